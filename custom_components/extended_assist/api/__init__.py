"""The API that language models are given: its tools, its prompt, and the pictures that go along with an answer."""
