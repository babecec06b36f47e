// A WebSocket client through the gateway: websocket.mjs URL [CA_FILE [PROXY_URL]], the last for a tunnel; the origin is
// websocket_origin.mjs, or websocket_h2_origin.mjs. Exits with 1 at the first assertion that fails.
import assert from 'node:assert/strict';
import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {HttpsProxyAgent} from 'https-proxy-agent';
import WebSocket from 'ws';

const [url, caFile, proxyUrl] = process.argv.slice(2);
const options = {...(caFile && {ca: readFileSync(caFile)}), ...(proxyUrl && {agent: new HttpsProxyAgent(proxyUrl)})};

async function open(path = '/', protocols = []) {
  const socket = new WebSocket(url + path, protocols, {...options, maxPayload: 64 << 20});
  await once(socket, 'open');
  return socket;
}
const next = async (socket) => (await once(socket, 'message'))[0];

async function echoes() {
  const socket = await open('/a/b?c=d', ['other', 'chat']);
  assert.equal(socket.protocol, 'chat');
  socket.send('hello');
  assert.equal((await next(socket)).toString(), 'hello');
  for (const size of [0, 1, 125, 126, 65535, 65536, 5_000_000]) {
    const bytes = randomBytes(size);
    socket.send(bytes);
    assert.ok(bytes.equals(await next(socket)), `${size} bytes`);
  }
  socket.close(1000, 'done');
  const [code, reason] = await once(socket, 'close');
  assert.deepEqual([code, reason.toString()], [1000, 'done']);
}

async function manySmall() {
  const socket = await open();
  const seen = [];
  const all = new Promise((resolve) => {
    socket.on('message', (data) => {
      if (seen.push(data.toString()) === 1000) resolve();
    });
  });
  for (let i = 0; i < 1000; ++i) socket.send(`message ${i}`);
  await all;
  assert.deepEqual(seen, Array.from({length: 1000}, (_, i) => `message ${i}`));
  socket.close();
  await once(socket, 'close');
}

async function pings() {
  const socket = await open();
  socket.ping('from the client');
  assert.equal((await once(socket, 'pong'))[0].toString(), 'from the client');
  socket.send('ping');
  assert.equal((await next(socket)).toString(), 'pong: from the origin');
  socket.close();
  await once(socket, 'close');
}

async function closes() {
  const told = await open();
  told.send('close');
  const [code, reason] = await once(told, 'close');
  assert.deepEqual([code, reason.toString()], [4001, 'as told']);
  const lost = await open();
  lost.on('error', () => {});
  lost.send('die');
  assert.equal((await once(lost, 'close'))[0], 1006);
  const leaving = await open();
  leaving.terminate();
}

async function refusal() {
  const socket = new WebSocket(url + '/forbidden', options);
  const [request, response] = await once(socket, 'unexpected-response');
  assert.equal(response.statusCode, 403);
  request.destroy();
}

async function headers() {
  const socket = await open();
  socket.send('headers');
  const seen = JSON.parse(await next(socket));
  assert.equal(seen.upgrade, 'websocket');
  assert.equal(seen.connection, 'upgrade');
  assert.match(seen.via, /sluice/);
  socket.close();
  await once(socket, 'close');
}

await echoes();
await manySmall();
await pings();
await closes();
await refusal();
if (!proxyUrl) await headers();
