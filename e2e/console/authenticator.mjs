// An authenticator app: codes of six digits, a new one every 30 seconds (RFC 6238).

import { createHmac } from "node:crypto";

const PERIOD = 30_000;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The bytes of a text in base 32. */
function decode(text) {
  const bits = [...text].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, "0")).join("");
  return Buffer.from(bits.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)));
}

export class Authenticator {
  #key;
  /** The period whose code was used last. */
  #used = 0;

  /** Takes the secret as people type it. */
  constructor(secret) {
    this.#key = decode(secret.replaceAll(/\s/g, ""));
  }

  /** A code that was not used before: that of now, or the next one, which the service takes as well because clocks differ. */
  code() {
    this.#used = Math.max(Math.floor(Date.now() / PERIOD), this.#used + 1);
    const counter = Buffer.alloc(8);
    counter.writeBigUInt64BE(BigInt(this.#used));
    const hash = createHmac("sha1", this.#key).update(counter).digest();
    const number = hash.readUInt32BE(hash.at(-1) & 0x0f) & 0x7fff_ffff;
    return String(number % 1_000_000).padStart(6, "0");
  }
}
