// Calls chat completions with the AI SDK: ai_errors.mjs BASE_URL... For each URL it calls once for a whole answer and once for a stream of
// events, and prints how both fail, as sdk_errors.mjs describes it.
import {createOpenAICompatible} from '@ai-sdk/openai-compatible';
import {generateText, streamText} from 'ai';
import {describe} from './sdk_errors.mjs';

// This SDK keeps the object `error` of the body in `data`, and has no member for the id.
const members = (error) =>
    ({status: error.statusCode, ...error.data.error, requestId: error.responseHeaders['x-request-id']});

/// A stream reports errors among its parts.
async function readStream(request) {
  for await (const part of streamText({...request, onError() {}}).fullStream) {
    if (part.type === 'error') throw part.error;
  }
}

for (const baseURL of process.argv.slice(2)) {
  const provider = createOpenAICompatible({name: 'any', baseURL, apiKey: 'none'});
  const request = {model: provider('any'), prompt: 'Hello', maxRetries: 0};
  await describe(() => generateText(request), members);
  await describe(() => readStream(request), members);
}
