export { isFunctionWord, type Language, languageOf, languages, preferredLanguage } from './language.ts';
export { type Texts, texts } from './texts.ts';
