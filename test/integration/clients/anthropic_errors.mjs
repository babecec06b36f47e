// Calls messages with the SDK of Anthropic: anthropic_errors.mjs BASE_URL... For each URL it calls once for a whole answer and once for a
// stream of events, and prints how both fail, as sdk_errors.mjs describes it.
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import {describe} from './sdk_errors.mjs';

// This SDK has no member for the code. It keeps the body of the answer in `error`, and reads its class and its sentence from there.
function members(error) {
  assert.equal(error.apiMessage, error.error.detail);
  return {status: error.status, type: error.type, code: error.error.error.code, requestId: error.requestID};
}

for (const baseURL of process.argv.slice(2)) {
  const client = new Anthropic({baseURL, apiKey: 'none', maxRetries: 0});
  const request = {model: 'any', max_tokens: 8, messages: [{role: 'user', content: 'Hello'}]};
  await describe(() => client.messages.create(request), members);
  await describe(() => client.messages.stream(request).finalMessage(), members);
}
