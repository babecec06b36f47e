// An authorization server that speaks Envoy's external authorization protocol over gRPC, with the schema authorization.proto beside
// this file. Prints "listening on PORT", and each request that it is asked about as a line of JSON; ends with its parent.
//
// The path of the request says how it decides: /allowed, /edited, /denied, /denied-rudely, /rude, /late, /broken; it denies all others with 403.
import {Server, ServerCredentials, loadPackageDefinition, status} from '@grpc/grpc-js';
import {loadSync} from '@grpc/proto-loader';
import {fileURLToPath} from 'node:url';

const schema = fileURLToPath(new URL('authorization.proto', import.meta.url));
const {envoy} = loadPackageDefinition(loadSync(schema, {keepCase: true, longs: Number, defaults: true}));
const option = (key, value, more = {}) => ({header: {key, value}, ...more});

const answers = {
  '/allowed': {status: {code: 0}},
  '/edited': {
    status: {code: 0},
    ok_response: {
      headers: [option('X-User', 'alice'), option('x-many', 'two', {append: {value: true}}), option('x-kept', 'server', {append_action: 1})],
      headers_to_remove: ['authorization', ':path', 'Host'],
      response_headers_to_add: [option('x-checked', 'yes')],
      query_parameters_to_set: [{key: 'tenant', value: 'a b'}],
      query_parameters_to_remove: ['debug'],
    },
  },
  '/denied': {
    status: {code: 7},
    denied_response: {status: {code: 401}, headers: [option('www-authenticate', 'Bearer'), option('content-type', 'text/html')], body: '<b>no</b>'},
  },
  '/denied-rudely': {status: {code: 7}, denied_response: {headers: [option('content-length', '7'), option('x-why', 'no')]}},
  '/rude': {status: {code: 0}, ok_response: {headers: [option('x-user', 'a\r\nx-evil: b')]}},
};

const server = new Server();
server.addService(envoy.service.auth.v3.Authorization.service, {
  Check(call, done) {
    const {http, time} = call.request.attributes.request;
    const body = http.body || http.raw_body.toString('latin1');
    console.log(JSON.stringify({...http, raw_body: undefined, body, dated: time.seconds > 1e9, peer: call.request.attributes.source.address.socket_address.address}));
    const path = http.path.split('?')[0];
    if (path === '/late') return;
    if (path === '/broken') return done({code: status.INTERNAL, details: 'it broke'});
    done(null, answers[path] ?? {status: {code: 7}});
  },
});
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(`listening on ${port}`);
});
