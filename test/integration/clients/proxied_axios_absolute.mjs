// axios in a version that many programs still have: it sends "GET https://..." in absolute-form to the proxy, and relies on its TLS.
import axios from 'axios-absolute';
import {exerciseAxios} from './proxied_with_axios.mjs';

await exerciseAxios(axios);
