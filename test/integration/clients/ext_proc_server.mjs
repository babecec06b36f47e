// An external processor: ext_proc_server.mjs. The header x-do of a request says what it does with it:
//
//   nothing    It adds x-guard to request and response, and answers to each body by the same in upper case.
//   reject     It refuses the request with 418 and a body, and calls of gRPC with status 9.
//   route      It sets x-tenant and has the route matched again.
//   replace    It replaces the request's body without having seen it; leave does so and ends the stream.
//   path       It sets :path to /edited.
//   own        It tries to change what is the gateway's: :authority, host, content-length, x-envoy-a.
//   less       It wants no bodies (mode_override).
//   look       It asks for the response's body in the answer to its headers (mode_override).
//   keep       It changes nothing.
//   hint       It names x-tenant as a route hint (dynamic_metadata).
//   slow       It asks for more time (override_message_timeout), and answers behind the gateway's own timeout.
//   late       In full duplex it answers to the headers behind the body, and puts the body's length into x-length.
//   early      In full duplex it gives a body of its own at once, and passes over the one that comes.
//   away       It ends two of three streams as UNAVAILABLE before it has answered.
//   hang, close, fail, garbage, wrong, twice, many, badname, badstatus, die (in the request's body)
//
// Where there are no headers, the attribute request.headers["x-do"] takes the place of x-do. In the phase connect:
//
//   only HOST  It refuses every address but that one with 451.
//   hang HOST  It does so too, and does not answer about that one.
//
// If a request has x-mode, a JSON text, the answer to its headers has that mode_override.
//
// Prints "listening on PORT", and for each stream, when it is over, "heard PART ...", with "$" behind a part that ends its message, and with the values
// of authorization and x-open.
import {Server, ServerCredentials, loadPackageDefinition, status} from '@grpc/grpc-js';
import {loadSync} from '@grpc/proto-loader';
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

const definition = loadSync(fileURLToPath(new URL('ext_proc.proto', import.meta.url)), {keepCase: true, oneofs: true, defaults: true, enums: String});
const {service} = loadPackageDefinition(definition).envoy.service.ext_proc.v3.ExternalProcessor;
// So that a test may send bytes that are no message.
const process_ = service.Process ?? service.process;
const serialize = process_.responseSerialize;
const raw = {...process_, responseSerialize: (answer) => (Buffer.isBuffer(answer) ? answer : serialize(answer))};

const set = (key, value, append_action = 2) => ({header: {key, raw_value: Buffer.from(value)}, append_action});
const headersIn = (message) => Object.fromEntries((message.headers?.headers ?? []).map((each) => [each.key, each.raw_value.toString()]));
const ofPart = (part, response) => ({[part]: {response}});

function answerHeaders(part, what, headers) {
  const plain = ofPart(part, {header_mutation: {set_headers: [set('x-guard', 'seen')], remove_headers: ['x-secret']}});
  if ('x-mode' in headers) return {...plain, mode_override: JSON.parse(headers['x-mode'])};
  if (part === 'response_headers' && what === 'look') return {...plain, mode_override: {response_body_mode: 'STREAMED'}};
  if (part === 'response_headers') return what === 'keep' ? ofPart(part, {}) : plain;
  switch (what) {
    case 'reject':
      return {immediate_response: {status: {code: 418}, headers: {set_headers: [set('x-why', 'tea')]}, body: Buffer.from('short and stout'), grpc_status: {status: 9}}};
    case 'route':
      return ofPart(part, {header_mutation: {set_headers: [set('x-tenant', 'two')]}, clear_route_cache: true});
    case 'replace':
    case 'leave':
      return ofPart(part, {status: 1, body_mutation: {body: Buffer.from('replaced')}});
    case 'path':
      return ofPart(part, {header_mutation: {set_headers: [set(':path', '/edited')]}});
    case 'own':
      return ofPart(part, {header_mutation: {set_headers: [set(':authority', 'evil.test'), set('host', 'evil.test'), set('content-length', '7'), set('x-envoy-a', 'b')]}});
    case 'less':
      return {...plain, mode_override: {request_header_mode: 'SEND', response_header_mode: 'SKIP', request_body_mode: 'NONE', response_body_mode: 'NONE'}};
    case 'keep':
      return ofPart(part, {});
    case 'hint':
      return {...ofPart(part, {}), dynamic_metadata: {fields: {'sluice.dev': {struct_value: {fields: {'x-tenant': {string_value: 'two'}}}}}}};
    case 'garbage':
      return Buffer.from([0xff, 0xff, 0xff, 0xff]);
    case 'wrong':
      return ofPart('response_body', {});
    case 'many':
      return ofPart(part, {header_mutation: {set_headers: Array.from({length: 1000}, (_, i) => set(`x-${i}`, 'v'))}});
    case 'badname':
      return ofPart(part, {header_mutation: {set_headers: [set('x bad', 'v')]}});
    case 'badstatus':
      return {immediate_response: {status: {code: 101}}};
    default:
      return plain;
  }
}

const upper = (bytes) => Buffer.from(bytes.toString().toUpperCase());
const streamed = (part, body, end_of_stream) => ofPart(part, {body_mutation: {streamed_response: {body, end_of_stream}}});

/** Answers in full duplex. `seen` keeps what has come of the body. */
function answerInDuplex(call, part, what, said, seen) {
  const way = part.split('_')[0];
  const ends = said.end_of_stream || part.endsWith('_trailers');
  if (part.endsWith('_headers') && what !== 'late') call.write(answerHeaders(part, what, headersIn(said)));
  if (part.endsWith('_headers') && what === 'early') call.write(streamed(`${way}_body`, Buffer.from('early'), true));
  if (part.endsWith('_headers') || what === 'early') return;
  if (part.endsWith('_body')) seen.push(said.body);
  if (what === 'late' && ends) {
    const length = String(Buffer.concat(seen).length);
    call.write(ofPart(`${way}_headers`, {header_mutation: {set_headers: [set('x-length', length)]}}));
  }
  if (what !== 'late' || ends) {
    call.write(streamed(`${way}_body`, upper(Buffer.concat(seen.splice(0))), ends && !part.endsWith('_trailers')));
  }
  if (part.endsWith('_trailers')) call.write({[part]: {header_mutation: {set_headers: [set('x-behind', 'seen')]}}});
}

let timesAway = 0;

function talk(call) {
  const heard = [];
  const seen = {request: [], response: []};
  let inDuplex = {};
  let what = '';
  call.on('data', (message) => {
    const part = message.request;
    const said = message[part];
    heard.push(part + (said.end_of_stream ? '$' : ''));
    if (message.protocol_config) {
      const {request_body_mode, response_body_mode} = message.protocol_config;
      inDuplex = {request: request_body_mode === 'FULL_DUPLEX_STREAMED', response: response_body_mode === 'FULL_DUPLEX_STREAMED'};
    }
    for (const [name, {fields}] of Object.entries(message.attributes ?? {})) {
      heard.push(`${name}[${Object.keys(fields).sort().map((key) => `${key}=${fields[key].string_value ?? `number ${fields[key].number_value}`}`).join(' ')}]`);
    }
    const asked = message.attributes?.['envoy.filters.http.ext_proc']?.fields ?? {};
    what = asked['request.headers["x-do"]']?.string_value ?? what;
    if (part === 'request_headers') {
      const headers = headersIn(said);
      what = headers['x-do'] ?? what;
      if (/^(only|hang) /.test(what) && asked['destination.address'].string_value !== what.slice(5)) {
        return void call.write({immediate_response: {status: {code: 451}, headers: {set_headers: [set('x-why', 'elsewhere')]}, body: Buffer.from('not there')}});
      }
      for (const name of ['authorization', 'x-open']) if (name in headers) heard.push(`${name}=${headers[name]}`);
      if (message.metadata_context?.filter_metadata?.['sluice.dev']) {
        const fields = message.metadata_context.filter_metadata['sluice.dev'].fields;
        heard.push(`(${Object.keys(fields).sort().map((key) => `${key}=${fields[key].string_value}`).join(' ')})`);
      }
    }
    if (what.startsWith('hang')) return;
    if (what === 'away' && part === 'request_headers' && ++timesAway % 3 !== 0) {
      return void call.emit('error', {code: status.UNAVAILABLE, details: 'on purpose'});
    }
    if (what === 'close') return void call.end();
    if (what === 'fail') return void call.emit('error', {code: status.INTERNAL, details: 'on purpose'});
    if (message.observability_mode) {
      if (part.endsWith('_body')) heard.push(`"${said.body}"`);
      return;
    }
    if (what === 'slow') {
      call.write({override_message_timeout: {seconds: 30}});
      return void setTimeout(() => call.write(answerHeaders(part, '', headersIn(said))), 700);
    }
    if (inDuplex[part.split('_')[0]]) return void answerInDuplex(call, part, what, said, seen[part.split('_')[0]]);
    if (part.endsWith('_trailers')) return void call.write({[part]: {header_mutation: {set_headers: [set('x-behind', 'seen')], remove_headers: ['x-secret']}}});
    if (part.endsWith('_headers')) {
      const answer = answerHeaders(part, what, headersIn(said));
      call.write(answer);
      if (what === 'twice') call.write(answer);
      if (what === 'leave') call.end();
      return;
    }
    if (what === 'die') return void call.emit('error', {code: status.UNAVAILABLE, details: 'in the body'});
    const body = what === 'keep' ? {} : {body_mutation: {body: upper(said.body)}};
    call.write(ofPart(part, body));
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

const server = new Server({'grpc.max_receive_message_length': -1});
server.addService({Process: raw}, {Process: talk});
// Arguments: the port (0: any), and for TLS a certificate and its key.
const [wanted = '0', certificateFile, keyFile] = process.argv.slice(2);
const credentials = certificateFile
  ? ServerCredentials.createSsl(null, [{cert_chain: readFileSync(certificateFile), private_key: readFileSync(keyFile)}])
  : ServerCredentials.createInsecure();
server.bindAsync(`127.0.0.1:${wanted}`, credentials, (error, port) => {
  if (error) throw error;
  console.log(`listening on ${port}`);
});
