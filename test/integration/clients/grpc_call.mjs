// Makes single gRPC calls: grpc_call.mjs HOST:PORT CALL... with CALL as /service/method[,header=value]... Prints a line for each:
// "CODE DETAILS", and the returned metadata x-leading.
import {credentials, Client, Metadata} from '@grpc/grpc-js';

const [address, ...calls] = process.argv.slice(2);
const client = new Client(address, credentials.createInsecure());
const bytes = (value) => value;

function call(text) {
  const [path, ...fields] = text.split(',');
  const metadata = new Metadata();
  for (const field of fields) metadata.set(...field.split('='));
  return new Promise((resolve) => {
    let leading = '';
    const made = client.makeUnaryRequest(path, bytes, bytes, Buffer.from('x'), metadata, {}, () => {});
    made.on('metadata', (received) => { leading = received.get('x-leading').join(); });
    made.on('status', (status) => resolve(`${status.code} ${status.details} ${leading}`.trim()));
  });
}

for (const text of calls) console.log(await call(text));
client.close();
