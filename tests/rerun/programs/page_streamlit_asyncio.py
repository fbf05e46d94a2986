"""`streamlit run`, on asyncio's own loop, as where uvloop is not installed: `page_streamlit_asyncio.py WORDS`."""

import sys

sys.modules["uvloop"] = None

from streamlit.web import cli

if __name__ == "__main__":
    cli.main(["run", *sys.argv[1:]])
