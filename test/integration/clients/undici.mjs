// Sends requests with undici through the gateway: undici.mjs PLAIN_URL TLS_URL CA_FILE [SECONDS]. It does so once, or repeats for
// SECONDS with new connections each time. Exits with 1 at the first assertion that fails.
import assert from 'node:assert/strict';
import {createHash, randomBytes} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {Readable} from 'node:stream';
import {Agent, Pool, request} from 'undici';

const [plainUrl, tlsUrl, caFile] = process.argv.slice(2);
const tls = {ca: readFileSync(caFile)};
const hash = (bytes) => createHash('sha256').update(bytes).digest('hex');

async function exercise(name, base, dispatcher) {
  const described = await request(`${base}/a/b?c=d`, {dispatcher, headers: {'x-client': name}});
  assert.equal(described.statusCode, 200, name);
  const seen = await described.body.json();
  assert.equal(seen.target, '/a/b?c=d', name);
  assert.ok(seen.headers.includes(`x-client: ${name}`), name);

  const body = randomBytes(1_000_000);
  const parts = Readable.from([body.subarray(0, 10), body.subarray(10, 500_000), body.subarray(500_000)]);
  const echoed = await request(`${base}/echo`, {dispatcher, method: 'POST', body: parts});
  assert.equal(hash(Buffer.from(await echoed.body.arrayBuffer())), hash(body), `${name}: body`);

  const many = await Promise.all(Array.from({length: 100}, async (_, i) => {
    const answer = await request(`${base}/bytes/${i * 100}`, {dispatcher});
    return (await answer.body.arrayBuffer()).byteLength;
  }));
  assert.deepEqual(many, many.map((_, i) => i * 100), `${name}: sizes`);

  const missing = await request(`${base}/status/404`, {dispatcher});
  assert.equal(missing.statusCode, 404, name);
  await missing.body.dump();

  const aborted = new AbortController();
  const hanging = request(`${base}/silent`, {dispatcher, signal: aborted.signal});
  setImmediate(() => aborted.abort());
  await assert.rejects(hanging, {name: 'AbortError'}, name);
  await dispatcher.close();
}

const until = Date.now() + Number(process.argv[5] ?? 0) * 1000;
do {
  await exercise('h1', plainUrl, new Pool(plainUrl, {connections: 10, pipelining: 1}));
  await exercise('h1-pipelined', plainUrl, new Pool(plainUrl, {connections: 1, pipelining: 10}));
  await exercise('h1-tls', tlsUrl, new Agent({connect: tls, allowH2: false}));
  await exercise('h2-tls', tlsUrl, new Agent({connect: tls, allowH2: true}));
} while (Date.now() < until);
console.log('ok');
