// Calls chat completions with the SDK of OpenAI: openai_errors.mjs BASE_URL... For each URL it calls once for a whole answer and once for a
// stream of events, and prints how both fail, as sdk_errors.mjs describes it.
import OpenAI from 'openai';
import {describe} from './sdk_errors.mjs';

const members = (error) => ({status: error.status, type: error.type, code: error.code, requestId: error.requestID});

for (const baseURL of process.argv.slice(2)) {
  const client = new OpenAI({baseURL, apiKey: 'none', maxRetries: 0});
  for (const stream of [false, true]) {
    const request = {model: 'any', messages: [{role: 'user', content: 'Hello'}], stream};
    await describe(() => client.chat.completions.create(request), members);
  }
}
