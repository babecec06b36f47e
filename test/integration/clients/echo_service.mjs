// Defines the gRPC service that the client and the origin of the tests share; it has no schema, its messages are bytes.
const bytes = {
  requestSerialize: (message) => message,
  requestDeserialize: (message) => message,
  responseSerialize: (message) => message,
  responseDeserialize: (message) => message,
};

const method = (name, requestStream, responseStream) => ({path: `/sluice.test.Echo/${name}`, requestStream, responseStream, ...bytes});

export const echoService = {
  unary: method('Unary', false, false),
  fail: method('Fail', false, false),
  hang: method('Hang', false, false),
  collect: method('Collect', true, false),
  expand: method('Expand', false, true),
  converse: method('Converse', true, true),
};
