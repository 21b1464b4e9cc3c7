// Stands for an API on the internet that wants a key.
import { createServer } from 'node:http';

const temperatures = { Rome: 21, Oslo: 4 };

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://api');
  const send = (status, value) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  const city = searchParams.get('city');
  if (request.headers.authorization !== 'Bearer my-weather-key') send(401, { error: 'wrong key' });
  else if (pathname !== '/weather' || !Object.hasOwn(temperatures, city)) send(404, { error: 'no such city' });
  else send(200, { city, temperature: temperatures[city] });
}).listen(4010, '127.0.0.1');
