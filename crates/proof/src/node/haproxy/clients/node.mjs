// Callers with Node's own clients: http with an agent that keeps connections open, and fetch. They try nothing twice.
import { existsSync, readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

const { BASE, TOKEN, BODY, READ, WRITE, STOP } = process.env
const WORKERS = 4
const PAUSE = 40

const agent = new http.Agent({ keepAlive: true, maxSockets: WORKERS })
const body = readFileSync(BODY)
const headers = { authorization: `Bearer ${TOKEN}` }
const json = { ...headers, 'content-type': 'application/json' }
const counted = { requests: 0, connections: 0, failed: 0, first: null }

const byHttp = (method, path, sent) => new Promise((resolve, reject) => {
  const with_length = sent ? { ...json, 'content-length': sent.length } : headers
  const request = http.request(BASE + path, { method, agent, headers: with_length, timeout: 20_000 }, answer => {
    answer.on('error', reject).on('end', () => resolve(answer.statusCode)).resume()
  })
  request.on('socket', socket => { if (socket.connecting) counted.connections++ })
  request.on('timeout', () => request.destroy(new Error('no answer within 20 s'))).on('error', reject).end(sent)
})

const byFetch = async (method, path, sent) => {
  const answer = await fetch(BASE + path, { method, headers: sent ? json : headers, body: sent, signal: AbortSignal.timeout(20_000) })
  await answer.arrayBuffer()
  return answer.status
}

const keepCalling = async call => {
  for (let turn = 0; !existsSync(STOP); turn++) {
    let wrong = null
    try {
      const status = turn % 2 ? await call('GET', READ) : await call('POST', WRITE, body)
      if (status !== 200) wrong = `answered ${status}`
    } catch (error) {
      wrong = `${error.message} ${error.cause?.code ?? error.code ?? ''}`.trim()
    }
    counted.requests++
    if (wrong) {
      counted.failed++
      counted.first ??= wrong
    }
    await pause(PAUSE)
  }
}

await Promise.all(Array.from({ length: WORKERS }, (_, worker) => keepCalling(worker % 2 ? byFetch : byHttp)))
agent.destroy()
console.log(JSON.stringify(counted))
