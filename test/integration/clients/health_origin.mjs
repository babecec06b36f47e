// A gRPC origin with the service grpc.health.v1: the services "up" and "" serve, so does one with the name of the call's
// authority, "down" does not, and others are unknown. Prints "listening on PORT"; ends with its parent.
import {loadPackageDefinition, Server, ServerCredentials, status} from '@grpc/grpc-js';
import {loadSync} from '@grpc/proto-loader';
import {fileURLToPath} from 'node:url';

const {health} = loadPackageDefinition(loadSync(fileURLToPath(new URL('health.proto', import.meta.url)))).grpc;
const answers = {'': 'SERVING', up: 'SERVING', down: 'NOT_SERVING'};

const server = new Server();
server.addService(health.v1.Health.service, {
  check(call, done) {
    const service = call.request.service ?? '';
    const answer = service === call.getHost() ? 'SERVING' : answers[service];
    done(answer ? null : {code: status.NOT_FOUND}, {status: answer});
  },
});
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(`listening on ${port}`);
});
