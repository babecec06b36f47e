"""Probes of a container by HTTP, from the node, as a Pod's specification describes them."""
import asyncio

# A probe that has never succeeded is tried this often at least, so that nobody waits for a whole period of a Pod that has just begun.
FIRST_PERIOD = 0.2


class Probe:
    def __init__(self, container, spec, address):
        http = spec["httpGet"]
        self.port = http["port"]
        if isinstance(self.port, str):
            self.port = next(each["containerPort"] for each in container["ports"] if each.get("name") == self.port)
        self.path, self.address = http.get("path", "/"), http.get("host", address)
        self.delay, self.period, self.timeout = (spec.get("initialDelaySeconds", 0), spec.get("periodSeconds", 10),
                                                 spec.get("timeoutSeconds", 1))
        self.failures, self.successes = spec.get("failureThreshold", 3), spec.get("successThreshold", 1)

    @staticmethod
    def of(container, name, address):
        return Probe(container, container[name], address) if name in container else None

    async def ask(self):
        writer = None
        try:
            async with asyncio.timeout(self.timeout):
                reader, writer = await asyncio.open_connection(self.address, self.port)
                writer.write(f"GET {self.path} HTTP/1.1\r\nHost: {self.address}:{self.port}\r\nConnection: close\r\n\r\n".encode())
                head = await reader.readuntil(b"\r\n")
                return 200 <= int(head.split()[1]) < 400
        except (OSError, EOFError, ValueError, IndexError, asyncio.IncompleteReadError, TimeoutError):
            return False
        finally:
            if writer is not None:
                writer.close()

    async def changes(self):
        """Yields whether it passes each time that this changes; at first it does not."""
        passes, succeeded, same = False, False, 0
        await asyncio.sleep(self.delay)
        while True:
            result = await self.ask()
            same = same + 1 if result != passes else 0
            if same >= (self.successes if result else self.failures):
                passes, same = result, 0
                succeeded = succeeded or result
                yield passes
            await asyncio.sleep(self.period if succeeded else min(self.period, FIRST_PERIOD))

    async def until(self, wanted):
        """Returns True when it has passed, if that is wanted, or False when it has failed too often."""
        failed = 0
        await asyncio.sleep(self.delay)
        while True:
            result = await self.ask()
            if result and wanted:
                return True
            failed = 0 if result else failed + 1
            if failed >= self.failures:
                return False
            await asyncio.sleep(self.period)
