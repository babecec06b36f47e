// A WebSocket over HTTP/2 (RFC 8441): websocket_h2.mjs URL [CA_FILE [AUTHORITY]]; the origin is websocket_origin.mjs. An
// authority is that of the origin, and URL then is a forward proxy. Exits with 1 at the first assertion that fails.
import assert from 'node:assert/strict';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {connect} from 'node:http2';

const [url, caFile, authority] = process.argv.slice(2);
const session = connect(url, caFile ? {ca: readFileSync(caFile)} : {});
await once(session, 'remoteSettings');
assert.equal(session.remoteSettings.enableConnectProtocol, true);

const ask = (path) => session.request(
  {
    ':method': 'CONNECT', ':protocol': 'websocket', ':path': path, 'sec-websocket-version': '13',
    ...(authority && {':scheme': 'http', ':authority': authority}),
  },
  {endStream: false});

// Returns a client's masked frame, whose mask changes nothing.
const frame = (opcode, payload) => Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);

async function read(stream, size) {
  let bytes = Buffer.alloc(0);
  while (bytes.length < size) {
    const piece = stream.read();
    if (piece === null) await once(stream, 'readable');
    else bytes = Buffer.concat([bytes, piece]);
  }
  return bytes;
}

const stream = ask('/chat');
const [head] = await once(stream, 'response');
assert.equal(head[':status'], 200);
assert.equal(head['sec-websocket-accept'], undefined);
for (let i = 0; i < 20; ++i) {
  const text = Buffer.from(`message ${i}`);
  stream.write(frame(1, text));
  const echoed = await read(stream, 2 + text.length);
  assert.deepEqual(echoed, Buffer.concat([Buffer.from([0x81, text.length]), text]));
}
stream.write(frame(8, Buffer.from([0x03, 0xe8])));
assert.deepEqual(await read(stream, 4), Buffer.from([0x88, 2, 0x03, 0xe8]));
stream.end();
stream.resume();
await once(stream, 'close');

const refused = ask('/forbidden');
const [answer] = await once(refused, 'response');
assert.equal(answer[':status'], 403);
refused.close();
session.close();
