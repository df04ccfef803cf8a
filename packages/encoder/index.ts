/** The door of the encoder: English texts give vectors, without a server. */
export { type EncodeRequest, Encoder, type EncoderOptions } from './encoder.ts';
export { type Encoded, EncoderError } from './process.ts';
export { encoderDimensions, encoderModel, textMax } from './protocol.ts';
