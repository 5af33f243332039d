"""Callers with Python's standard library. Each thread keeps one connection open, and tries nothing twice."""

import http.client
import json
import os
import threading
import time
import urllib.parse

THREADS = 4
PAUSE = 0.04

service = urllib.parse.urlsplit(os.environ["BASE"])
with open(os.environ["BODY"], "rb") as file:
    body = file.read()
headers = {"Authorization": "Bearer " + os.environ["TOKEN"]}
counted = {"requests": 0, "connections": 0, "failed": 0, "first": None}
lock = threading.Lock()


def call(connection, turn):
    if turn % 2:
        connection.request("GET", os.environ["READ"], headers=headers)
    else:
        connection.request("POST", os.environ["WRITE"], body, {**headers, "Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    return None if answer.status == 200 else f"answered {answer.status}"


def keep_calling():
    connection, turn = None, 0
    while not os.path.exists(os.environ["STOP"]):
        opened = connection is None or connection.sock is None
        connection = connection or http.client.HTTPConnection(service.hostname, service.port, timeout=20)
        try:
            wrong = call(connection, turn)
        except (OSError, http.client.HTTPException) as error:
            wrong = repr(error)
            connection.close()
        with lock:
            counted["requests"] += 1
            counted["connections"] += opened
            if wrong:
                counted["failed"] += 1
                counted["first"] = counted["first"] or wrong
        turn += 1
        time.sleep(PAUSE)


threads = [threading.Thread(target=keep_calling) for _ in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(counted))
