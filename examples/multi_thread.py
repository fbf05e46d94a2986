"""Four agents in four threads, one recording.

Every event stands under the step of its own agent, whatever the order in which threads run: `lctl stats
last` shows four agents with one model call each, `lctl bottleneck last` that they ran side by side.
"""

from concurrent.futures import ThreadPoolExecutor

from openai import OpenAI

from lctl import LCTLSession
from lctl.testing import ModelServer

CITIES = ["Lima", "Oslo", "Cairo", "Kyoto"]

with ModelServer(seed=4, latency=(0.05, 0.1)) as server, LCTLSession() as session:
    client = OpenAI(base_url=server.openai_url, api_key="test")

    def research(city: str) -> str:
        """One agent's work."""
        with session.step(f"{city.lower()}-scout", "research"):
            answer = client.responses.create(model="gpt-4.1-mini", input=f"Tell me about {city}")
            session.add_fact(city, answer.output_text, confidence=0.7)
            return answer.output_text

    with ThreadPoolExecutor(max_workers=4) as pool:
        for city, text in zip(CITIES, pool.map(research, CITIES), strict=True):
            print(f"{city}: {text}")
