// Calls gRPC methods through the gateway: grpc.mjs HOST:PORT [SECONDS [CA_FILE]], over TLS if there are authorities. It makes every kind of
// call once, or repeats them for SECONDS over one channel. Exits with 1 at the first assertion that fails.
import assert from 'node:assert/strict';
import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {credentials, makeGenericClientConstructor, Metadata, status} from '@grpc/grpc-js';
import {echoService} from './echo_service.mjs';

const Client = makeGenericClientConstructor(echoService, 'Echo');
const [address, seconds, caFile] = process.argv.slice(2);
const security = caFile ? credentials.createSsl(readFileSync(caFile)) : credentials.createInsecure();
const client = new Client(address, security, {'grpc.max_receive_message_length': -1});

/// Calls a method that answers once, and returns {error, value, leading, trailing}.
function callOnce(name, message, options = {}) {
  return new Promise((resolve) => {
    const result = {};
    const metadata = new Metadata();
    metadata.set('x-client', 'grpc-js');
    const call = client[name](message, metadata, options, (error, value) => {
      result.error = error;
      result.value = value;
    });
    call.on('metadata', (leading) => { result.leading = leading; });
    call.on('status', (trailing) => setImmediate(() => resolve({...result, trailing})));
  });
}

/// Returns all answers of a streaming call, and its final status.
async function drain(call) {
  const messages = [];
  call.on('data', (message) => messages.push(message.toString()));
  call.on('error', () => {});  // the status reports it too
  const final = await new Promise((resolve) => call.on('status', resolve));
  return {messages, final};
}

async function unary() {
  for (const size of [0, 1, 20_000, 3_000_000]) {
    const message = randomBytes(size);
    const got = await callOnce('unary', message);
    assert.equal(got.error, null, `unary ${size}: ${got.error}`);
    assert.ok(message.equals(got.value), `unary ${size}`);
    assert.deepEqual(got.leading.get('x-leading'), ['first']);
    assert.deepEqual(got.trailing.metadata.get('x-seen'), ['grpc-js']);
  }
}

async function failure() {
  const got = await callOnce('fail', Buffer.from('x'));
  assert.equal(got.error.code, status.PERMISSION_DENIED);
  assert.equal(got.error.details, 'not for you: \u00e4 100%');
  assert.deepEqual(got.error.metadata.get('x-seen'), ['failure']);
}

async function clientStreaming() {
  let call;
  const answered = new Promise((resolve, reject) => {
    call = client.collect((error, value) => (error ? reject(error) : resolve(value)));
  });
  for (let i = 0; i < 100; ++i) call.write(Buffer.from(`${i},`));
  call.end();
  assert.equal((await answered).toString(), Array.from({length: 100}, (_, i) => `${i},`).join(''));
}

async function serverStreaming() {
  const {messages, final} = await drain(client.expand(Buffer.from('100')));
  assert.deepEqual(messages, Array.from({length: 100}, (_, i) => `answer ${i}`));
  assert.equal(final.code, status.OK);
  assert.deepEqual(final.metadata.get('x-seen'), ['expanded']);
}

async function bothStreaming() {
  const call = client.converse();
  // Each message is answered before the next one is sent: no hop may hold a message back.
  for (let i = 0; i < 50; ++i) {
    call.write(Buffer.from(`turn ${i}`));
    const [answer] = await once(call, 'data');
    assert.equal(answer.toString(), `turn ${i}`);
  }
  call.end();
  const {final} = await drain(call);
  assert.equal(final.code, status.OK);
  assert.deepEqual(final.metadata.get('x-seen'), ['conversed']);
}

async function deadline() {
  const got = await callOnce('hang', Buffer.from('x'), {deadline: Date.now() + 300});
  assert.equal(got.error.code, status.DEADLINE_EXCEEDED);
}

async function cancel() {
  const call = client.converse();
  call.on('error', () => {});
  call.write(Buffer.from('one'));
  await once(call, 'data');
  call.cancel();
  const {final} = await drain(call);
  assert.equal(final.code, status.CANCELLED);
}

const until = Date.now() + Number(seconds ?? 0) * 1000;
do {
  for (const test of [unary, failure, clientStreaming, serverStreaming, bothStreaming, deadline, cancel]) await test();
} while (Date.now() < until);
client.close();
console.log('ok');
