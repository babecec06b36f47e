"""The two ends of the tunnels that tunnels.py measures: clients, and an origin that runs as a program of its own.

The first bytes of a tunnel are a ClientHello, because a proxy may read it. What follows is not TLS, so that neither end spends time on
ciphers: the client orders how many bytes it wants and how many it will send. The origin sends the former, reads the latter, and then
says so by one byte.

    tunnel_load.py PORT        # the origin, on 127.0.0.1
"""
import select
import socket
import ssl
import struct
import sys
import time
import typing

ORDER = struct.Struct("!II")
PIECE = memoryview(bytes(256 << 10))
PATIENCE = 120  # seconds for one piece of work


class Target(typing.NamedTuple):
    port: int  # of the proxy
    authority: str  # "name:port" that the proxy is asked for; "" of a proxy that knows it already


def client_hello(name):
    """Returns the first record that OpenSSL sends for this name."""
    out = ssl.MemoryBIO()
    try:
        ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


def quick(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setblocking(False)
    return connection


class Pipe:
    """A socket with bytes that it still has to send, and bytes that are still to come."""

    def __init__(self, connection):
        self.connection = quick(connection)
        self.to_send = 0
        self.left = 0  # to receive
        self.seen = b""  # until the head or the order is whole

    def send_more(self):
        """Returns True if all was sent."""
        while self.to_send:
            try:
                self.to_send -= self.connection.send(PIECE[:self.to_send])
            except BlockingIOError:
                return False
        return True


class Answering(Pipe):
    """The origin's end."""

    def __init__(self, connection):
        super().__init__(connection)
        self.ordered = False
        self.confirms = False

    def on_readable(self, buffer):
        """Returns False at the end of the connection."""
        count = self.connection.recv_into(buffer)
        if self.ordered:
            self.left -= count
        else:
            self.seen += buffer[:count]
            self.take_order()
        if self.confirms and self.left == 0:
            self.confirms = False
            self.to_send += 1
        return count > 0

    def take_order(self):
        if len(self.seen) < 5:
            return
        begin = 5 + int.from_bytes(self.seen[3:5], "big")
        if len(self.seen) >= begin + ORDER.size:
            self.to_send, up = ORDER.unpack_from(self.seen, begin)
            self.left = up - (len(self.seen) - begin - ORDER.size)
            self.ordered, self.confirms, self.seen = True, up > 0, b""


class Asking(Pipe):
    """The client's end: a tunnel that is opened, and carries one order."""

    def __init__(self, target, hello, down, up):
        super().__init__(socket.create_connection(("127.0.0.1", target.port), 10))
        self.first = hello + ORDER.pack(down, up)
        self.up = up
        self.left = down + (1 if up else 0)
        self.opened = not target.authority
        if self.opened:
            self.begin()
        else:
            self.connection.send(f"CONNECT {target.authority} HTTP/1.1\r\nHost: {target.authority}\r\n\r\n".encode())

    def begin(self):
        self.connection.send(self.first)
        self.to_send = self.up

    def on_readable(self, buffer):
        """Returns True once everything has come."""
        count = self.connection.recv_into(buffer)
        if count == 0:
            sys.exit(f"a tunnel ended with {self.left} bytes still to come: {self.seen[:200]}")
        if self.opened:
            self.left -= count
            return self.left == 0
        self.seen += buffer[:count]
        head, found, _ = self.seen.partition(b"\r\n\r\n")
        if found:
            if head.split(b" ")[1] != b"200":
                sys.exit(f"no tunnel was opened: {head[:200]}")
            self.opened = True
            self.begin()
        return False


class Requesting(Pipe):
    """A connection that repeats one request, whose response always has the same length."""

    def __init__(self, port, request):
        super().__init__(socket.create_connection(("127.0.0.1", port), 10))
        self.request = request
        self.ask()

    def ask(self):
        self.seen = b""
        self.connection.send(self.request)

    def on_readable(self, buffer):
        """Returns True once the response has come."""
        count = self.connection.recv_into(buffer)
        self.seen += buffer[:count]
        head, found, body = self.seen.partition(b"\r\n\r\n")
        if count == 0 or (found and not head.startswith(b"HTTP/1.1 200")):
            sys.exit(f"a request did not succeed: {self.seen[:300]}")
        if not found:
            return False
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        return len(body) == length


class Crowd:
    """Waits for the clients of one piece of work."""

    def __init__(self):
        self.poll = select.epoll()
        self.pipes = {}
        self.deadline = time.monotonic() + PATIENCE
        self.buffer = memoryview(bytearray(256 << 10))

    def add(self, pipe):
        self.pipes[pipe.connection.fileno()] = pipe
        self.poll.register(pipe.connection.fileno(), self.events_of(pipe))

    def remove(self, pipe):
        self.poll.unregister(pipe.connection.fileno())
        del self.pipes[pipe.connection.fileno()]

    @staticmethod
    def events_of(pipe):
        return select.EPOLLIN | (select.EPOLLOUT if pipe.to_send else 0)

    def finished(self):
        """Waits, and returns the clients that have everything that they asked for."""
        if time.monotonic() > self.deadline:
            sys.exit(f"{len(self.pipes)} clients still wait after {PATIENCE} s")
        done = []
        for number, events in self.poll.poll(1):
            pipe, wanted = self.pipes[number], None
            if events & select.EPOLLOUT and pipe.send_more():
                wanted = select.EPOLLIN
            if events & ~select.EPOLLOUT and pipe.on_readable(self.buffer):
                done.append(pipe)
            elif pipe.to_send and not events & select.EPOLLOUT:
                wanted = self.events_of(pipe)
            if wanted:
                self.poll.modify(number, wanted)
        return done


def open_tunnels(target, hello, total, at_once):
    """Opens this many tunnels, of which each carries 100 bytes and is closed by its client."""
    crowd = Crowd()
    started = 0
    ended = 0
    while ended < total:
        while started < total and started - ended < at_once:
            crowd.add(Asking(target, hello, 100, 0))
            started += 1
        for pipe in crowd.finished():
            crowd.remove(pipe)
            pipe.connection.close()
            ended += 1


def hold_tunnels(target, hello, total, at_once):
    """Opens this many tunnels, of which each carries 100 bytes, and returns them while they are open."""
    crowd = Crowd()
    held, started = [], 0
    while len(held) < total:
        while started < total and started - len(held) < at_once:
            crowd.add(Asking(target, hello, 100, 0))
            started += 1
        for pipe in crowd.finished():
            crowd.remove(pipe)
            held.append(pipe.connection)
    return held


def transfer(target, hello, tunnels, down, up):
    """Moves as many bytes down or up through each of the tunnels, all at the same time."""
    crowd = Crowd()
    for _ in range(tunnels):
        crowd.add(Asking(target, hello, down, up))
    while crowd.pipes:
        for pipe in crowd.finished():
            crowd.remove(pipe)
            pipe.connection.close()


def send_requests(port, request, total, connections):
    """Sends this request so often, over connections that stay open."""
    crowd = Crowd()
    for _ in range(connections):
        crowd.add(Requesting(port, request))
    started, ended = connections, 0
    while ended < total:
        for pipe in crowd.finished():
            ended += 1
            if started < total:
                pipe.ask()
                started += 1
    for pipe in list(crowd.pipes.values()):
        pipe.connection.close()


def serve(port):
    """Is the origin, until it is ended."""
    listener = socket.create_server(("127.0.0.1", port), backlog=4096)
    listener.setblocking(False)
    poll = select.epoll()
    poll.register(listener.fileno(), select.EPOLLIN)
    pipes, buffer = {}, memoryview(bytearray(256 << 10))
    while True:
        for number, events in poll.poll():
            if number == listener.fileno():
                pipe = Answering(listener.accept()[0])
                pipes[pipe.connection.fileno()] = pipe
                poll.register(pipe.connection.fileno(), select.EPOLLIN)
                continue
            pipe = pipes[number]
            try:
                more = not events & ~select.EPOLLOUT or pipe.on_readable(buffer)
                if more and (pipe.to_send or events & select.EPOLLOUT):
                    poll.modify(number, select.EPOLLIN if pipe.send_more() else select.EPOLLIN | select.EPOLLOUT)
            except (ConnectionResetError, BrokenPipeError):
                more = False
            if not more:
                poll.unregister(number)
                pipes.pop(number).connection.close()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
