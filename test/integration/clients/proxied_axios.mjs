// axios, which finds the proxy in its environment, and asks for a tunnel for origins of https.
import axios from 'axios';
import {exerciseAxios} from './proxied_with_axios.mjs';

await exerciseAxios(axios);
