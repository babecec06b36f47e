// Uploads 11 MB to an origin that answers before: early_answers.mjs URL STATUS CA_FILE. The answer is "answer". Exits with 1
// at the first assertion that fails.
import assert from 'node:assert/strict';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {connect} from 'node:http2';
import {Readable} from 'node:stream';

const [url, status, caFile] = process.argv.slice(2);
const session = connect(url, {ca: readFileSync(caFile)});

// Each piece waits until the one before it has been taken.
function* pieces() {
  for (let i = 0; i < 168; ++i) yield Buffer.alloc(65536);
}

async function upload() {
  const stream = session.request({':method': 'POST', ':path': '/'});
  let failure;
  stream.on('error', (error) => { failure = error; });
  let body = '';
  stream.setEncoding('utf8').on('data', (text) => { body += text; });
  const closed = once(stream, 'close');
  const answered = once(stream, 'response');
  Readable.from(pieces()).pipe(stream);
  const [head] = await answered;
  await closed;
  assert.equal(failure, undefined);
  assert.equal(head[':status'], Number(status));
  assert.equal(body, 'answer');
}

await upload();
await Promise.all([upload(), upload(), upload()]);
session.close();
console.log('ok');
