"""Answers as a ClickHouse server does over HTTP, by the engine that chdb has in it.

usage: chdb_server.py DIRECTORY; prints the port once it listens
"""

import http.server
import sys

from chdb import session

engine = session.Session(sys.argv[1])


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        statement = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            answer = engine.query(statement.decode("utf-8", "surrogateescape")).bytes()
            status = 200
        except Exception as error:
            answer, status = str(error).encode(), 500
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *words):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
