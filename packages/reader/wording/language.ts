/** Languages that the chat speaks. */
export const languages = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl'] as const;
/** One of the languages that the chat speaks. */
export type Language = (typeof languages)[number];

/** Words of each language that say little by themselves, and the greetings and thanks that stand alone. */
const frequent: Readonly<Record<Language, string>> = {
  en: 'the of and to in is are was were what which who when where how why does do did can could i my me we our you your for on with it this that there have has at by from about many much long a an be if not or tell show any should will please hello hi hey thanks thank bye',
  de: 'der die das den dem des ein eine einen einem einer ist sind war was welche welcher welches welchen wer wen wem wann wo wie warum viel viele kann können ich mein meine meinen mir mich wir unser sie ihr für auf mit von vom zu zum zur im und oder nicht kein keine gibt es in an am bei nach über wird werden hat haben darf muss soll lange kostet wenn als auch noch bitte hallo danke tschüss guten',
  fr: 'le la les l un une des du de d est sont était que qu quel quelle quels quelles qui quand où comment combien pourquoi quoi je j mon ma mes me vous votre nous notre pour sur avec sans dans et ou ne n pas y il elle on ce c cette ces se s au aux par en si peut puis dois doit faut ont fait bonjour bonsoir salut merci',
  es: 'el la los las un una es son está están era fue qué que cuál cuáles quién quiénes cuándo dónde cómo cuánto cuántos cuánta cuántas por para con sin en de del y o no hay se mi mis yo me puedo puede debo su sus al lo le si tiene tengo hace qué cada hola gracias adiós buenos buenas',
  it: 'il lo la i gli le l un uno una è sono era che cosa cos quale quali chi quando dove dov come quanto quanti quanta quante perché per con senza in di d del dell della dei delle degli nel nella nell e o non c ci si mio mia miei posso può devo su sul sulla al alla da dal dalla se ha hanno ho ogni ciao grazie buongiorno arrivederci',
  pt: 'o a os as um uma é são está estão foi que qual quais quem quando onde como quanto quantos quanta quantas porque por para com sem em de do da dos das no na nos nas e ou não há se meu minha eu me posso pode devo ao à aos tem tenho seu sua cada olá oi obrigado obrigada bom',
  nl: 'de het een is zijn was wat welke welk wie wanneer waar waarom hoe veel lang kan kun ik mijn me je jij u uw wij we ons voor op met zonder van naar in en of niet geen er dat die dit deze bij aan om te als mag moet moeten heeft hebben heb wordt worden kost ook per hallo hoi bedankt dank goedemorgen',
};

/** Usual words of letters and contracts. */
const usual: Readonly<Record<Language, string>> = {
  en: 'contract invoice price date page document number address name day days month year hour time total amount cost costs covered included period may must after before',
  de: 'vertrag vertrags rechnung preis datum seite dokument nummer adresse tag tage monat monate jahr stunde uhr zeit betrag kosten frist zahlt dürfen duerfen müssen können koennen nehmen vor',
  fr: 'contrat facture prix page document numéro adresse nom jour jours mois année heure temps montant délai comprend peuvent doivent après avant',
  es: 'contrato factura precio fecha página documento número dirección nombre día días mes año hora tiempo importe plazo pueden deben incluye este esta después antes',
  it: 'contratto fattura prezzo data pagina documento numero indirizzo nome giorno giorni mese anno ora tempo importo termine possono devono comprende questo questa dopo prima',
  pt: 'contrato fatura preço data página documento número endereço nome dia dias mês ano hora tempo valor prazo podem devem inclui este esta depois antes',
  nl: 'contract factuur prijs datum pagina document nummer adres naam dag dagen maand jaar uur tijd bedrag termijn mogen kunnen kinderen nemen na',
};

/** Letters of one language alone. */
const letters: readonly (readonly [Language, RegExp])[] = [
  ['de', /ß/],
  ['es', /[¿¡ñ]/],
  ['pt', /[ãõ]/],
  ['fr', /[œù]|ê/],
];

/** For each word, the languages that have it; also as people type it without accents. */
const languagesOf = new Map<string, Set<Language>>();
for (const language of languages)
  for (const word of `${frequent[language]} ${usual[language]}`.split(' '))
    for (const form of [word, plain(word)])
      languagesOf.set(form, (languagesOf.get(form) ?? new Set()).add(language));

const functionWords = new Set(Object.values(frequent).flatMap((words) => words.split(' ')));

/** Returns true for a word that says little by itself in one of the languages. */
export function isFunctionWord(word: string): boolean {
  return functionWords.has(word.toLowerCase());
}

const leastScore = 0.5;
const leastLead = 1.15;

/** The language of a question by its frequent words; undefined where they do not tell it, as in a question of one name. */
export function languageOf(text: string): Language | undefined {
  const scores = new Map<Language, number>();
  const add = (language: Language, score: number) =>
    scores.set(language, (scores.get(language) ?? 0) + score);
  const lower = text.toLowerCase();
  for (const [word] of lower.matchAll(/\p{L}+/gu)) {
    const known = languagesOf.get(word);
    // A word that several languages share says the less.
    for (const language of known ?? []) add(language, 1 / (known?.size ?? 1));
  }
  for (const [language, pattern] of letters) if (pattern.test(lower)) add(language, 1);
  const [first, second] = [...scores].sort(([, one], [, other]) => other - one);
  if (!first || first[1] < leastScore) return undefined;
  return first[1] >= (second?.[1] ?? 0) * leastLead ? first[0] : undefined;
}

/** The language of the words around an answer: that of the question, else the preferred one, else English. */
export function languageFor(question: string, preferred: Language | undefined): Language {
  return languageOf(question) ?? preferred ?? 'en';
}

/** The first of the languages that a browser prefers (`Accept-Language`) that the chat speaks; undefined if there is none. */
export function preferredLanguage(header: string | undefined): Language | undefined {
  const wanted = (header ?? '').split(',').map((part) => {
    const [tag = '', ...parameters] = part.trim().toLowerCase().split(';');
    const quality = Number(/q=([\d.]+)/.exec(parameters.join(';'))?.[1] ?? 1);
    return { tag: tag.split('-', 1)[0], quality };
  });
  wanted.sort((one, other) => other.quality - one.quality);
  return languages.find(
    (each) =>
      each === wanted.find(({ tag, quality }) => quality > 0 && languages.some((one) => one === tag))?.tag,
  );
}

function plain(word: string): string {
  return word.normalize('NFD').replace(/\p{M}/gu, '');
}
