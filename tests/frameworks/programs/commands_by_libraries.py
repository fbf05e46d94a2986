"""Commands that GitPython and plumbum run for the program: one of git's is spoken to until the program's end."""

import git
from plumbum import local
from plumbum.commands.processes import ProcessExecutionError

repository = git.Repo(".")
print(repository.is_dirty(untracked_files=True), repository.untracked_files)
repository.git.add("agent.txt")
print(repository.git.status("--short"))
repository.git.commit("-m", "one")
print(repository.head.commit.hexsha, [commit.message for commit in repository.iter_commits(max_count=3)])
print(repository.git.diff("HEAD~1"))
try:
    repository.git.checkout("nowhere")
except git.GitCommandError as error:
    print(error.status, error.stderr)
draw = local["head"]["-c", "8", "/dev/urandom"] | local["od"]["-An", "-tx1"]
print(draw())
try:
    local["sh"]("-c", "echo out; exit 3")
except ProcessExecutionError as error:
    print(error.retcode, error.stdout)
