// A payload processor of gateway.payloadprocessing.v1alpha1. The header x-do of a request says what it does with it:
//
//   nothing  It adds x-guard to request and response, and answers to each piece of a body by the same in upper case.
//   hold     It holds the request until its end; then it sets x-length, and gives the whole body in upper case.
//   ever     It holds everything, to the end.
//   less     It ends the phases request_body and response.
//   clear    It clears bodies.
//   reject   It refuses the request with 418 and a body.
//   early    It replaces a body in the answer to the headers.
//   hang     It does not answer.
//   odd      It answers with an action that is none.
//
// Prints "listening on PORT", and for each stream, when it is over, "heard PHASE ...", with "$" behind a phase that
// ends its message, and with the context.
import {Server, ServerCredentials, loadPackageDefinition} from '@grpc/grpc-js';
import {loadSync} from '@grpc/proto-loader';
import {fileURLToPath} from 'node:url';

const definition = loadSync(fileURLToPath(new URL('payload_processor.proto', import.meta.url)), {keepCase: true, oneofs: true, defaults: true});
const {service} = loadPackageDefinition(definition).gateway.payloadprocessing.v1alpha1.PayloadProcessor;

const upper = (bytes) => Buffer.from(bytes.toString().toUpperCase());

function process(call) {
  const heard = [];
  const seen = [];
  let what = '';
  call.on('data', (message) => {
    const phase = message.phase;
    const said = message[phase];
    heard.push(phase + (said.end_of_stream ? '$' : ''));
    const context = Object.entries(message.context).sort();
    if (context.length > 0) heard.push(`(${context.map(([key, value]) => `${key}=${value}`).join(' ')})`);
    if (phase === 'request_headers') {
      what = said.headers.find((each) => each.name === 'x-do')?.value ?? '';
      if (message.transaction_id === '') heard.push('without an id');
    }
    const go = (action) => call.write({continue: action});
    if (phase === 'request_headers' && what === 'reject') {
      return void call.write({immediate_response: {status_code: 418, headers: [{name: 'x-why', value: 'tea'}], body: Buffer.from('short and stout')}});
    }
    if (what === 'hang') return void console.log('asked');
    if (what === 'odd') return void call.write({});
    if (what === 'ever') return void go({hold: true});
    if (what === 'early') return void go({body_mutation: {replace: Buffer.from('early')}});
    if (phase.endsWith('_headers')) {
      if (what === 'hold' && phase === 'request_headers') return void go({hold: true});
      const end_phases = what === 'less' ? {request_body: true, response: true} : undefined;
      return void go({header_mutation: {set_headers: [{name: 'x-guard', value: 'seen'}], remove_headers: ['x-secret']}, end_phases});
    }
    if (what === 'clear') return void go({body_mutation: {clear: true}});
    if (what !== 'hold' || phase === 'response_body') return void go({body_mutation: {replace: upper(said.body)}});
    seen.push(said.body);
    if (!said.end_of_stream) return void go({hold: true});
    const whole = Buffer.concat(seen);
    go({header_mutation: {set_headers: [{name: 'x-length', value: String(whole.length)}]}, body_mutation: {replace: upper(whole)}});
  });
  const over = () => {
    if (heard.length > 0) console.log(`heard ${heard.splice(0).join(' ')}`);
  };
  call.on('end', () => {
    over();
    call.end();
  });
  call.on('cancelled', over);
  call.on('error', over);
}

const server = new Server();
server.addService(service, {Process: process});
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(`listening on ${port}`);
});
