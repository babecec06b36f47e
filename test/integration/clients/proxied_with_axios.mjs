// The calls that all versions of axios have.
import {exercise} from './proxied.mjs';

export function exerciseAxios(axios) {
  const client = axios.create({validateStatus: () => true, maxBodyLength: Infinity});
  return exercise({
    async get(url) {
      const {status, data} = await client.get(url, {responseType: 'text', transformResponse: (text) => text});
      return {status, text: data};
    },
    async post(url, body) {
      const {data} = await client.post(url, body, {responseType: 'arraybuffer', headers: {'content-type': 'application/octet-stream'}});
      return data;
    },
  });
}
