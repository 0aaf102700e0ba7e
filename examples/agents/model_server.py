"""Serves a GGUF file on the loopback address, with llama.cpp's own server inside the package xllamacpp.

    python model_server.py FILE NAME KEY PORT

Says `ready ADDRESS` when it answers, and serves until it is ended.
"""

import sys
import threading

import xllamacpp

FILE, NAME, KEY, PORT = sys.argv[1:5]
params = xllamacpp.CommonParams()
params.model.path = FILE
params.model_alias = {NAME}
params.hostnames = ["127.0.0.1"]
params.port = int(PORT)
params.api_keys = [KEY]
params.n_ctx = 8192
# A small model that does not stop is stopped: the agent sends no limit of its own.
params.n_predict = 300
params.use_jinja = True
params.cpuparams.n_threads = 2
server = xllamacpp.Server(params)
print("ready", server.listening_address, flush=True)
threading.Event().wait()
