import threading
import time


def f(x):
    threading.Thread(target=lambda: of(os, "_exit")(0)).start()
    time.sleep(20)
