// A gRPC origin: grpc_origin.mjs [CERTIFICATE_FILE KEY_FILE], over TLS if it has a certificate. Prints "listening on PORT"; ends
// with its parent.
import {readFileSync} from 'node:fs';
import {Metadata, Server, ServerCredentials, status} from '@grpc/grpc-js';
import {echoService} from './echo_service.mjs';

const [certificateFile, keyFile] = process.argv.slice(2);

function trailers(text) {
  const metadata = new Metadata();
  metadata.set('x-seen', text);
  return metadata;
}

const server = new Server({'grpc.max_receive_message_length': -1});
server.addService(echoService, {
  unary(call, done) {
    const leading = new Metadata();
    leading.set('x-leading', 'first');
    call.sendMetadata(leading);
    done(null, call.request, trailers(String(call.metadata.get('x-client')[0])));
  },
  fail(call, done) {
    done({code: status.PERMISSION_DENIED, details: 'not for you: \u00e4 100%', metadata: trailers('failure')});
  },
  hang(call) {
    call.on('cancelled', () => console.log('cancelled'));
  },
  collect(call, done) {
    const parts = [];
    call.on('data', (part) => parts.push(part));
    call.on('end', () => done(null, Buffer.concat(parts), trailers(String(parts.length))));
  },
  expand(call) {
    for (let i = 0; i < Number(call.request.toString()); ++i) call.write(Buffer.from(`answer ${i}`));
    call.end(trailers('expanded'));
  },
  converse(call) {
    call.on('data', (part) => call.write(part));
    call.on('end', () => call.end(trailers('conversed')));
  },
});

const credentials = certificateFile
  ? ServerCredentials.createSsl(null, [{cert_chain: readFileSync(certificateFile), private_key: readFileSync(keyFile)}])
  : ServerCredentials.createInsecure();
server.bindAsync('127.0.0.1:0', credentials, (error, port) => {
  if (error) throw error;
  console.log(`listening on ${port}`);
});
