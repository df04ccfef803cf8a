import type { Language } from './language.ts';

/** The words of the chat itself in one language; all else in answers is quoted or written by a model. */
export interface Texts {
  /** Before places that may answer. */
  readonly closest: string;
  readonly nothing: string;
  /** About a part of a question that has no answer. */
  readonly unanswered: (part: string) => string;
  /** The name of the list of passages beside an answer. */
  readonly passages: string;
  readonly page: string;
  readonly openPassage: string;
  readonly greeting: string;
  readonly thanks: string;
  readonly farewell: string;
  readonly agreement: string;
  readonly about: string;
  /** The documents of the library. */
  readonly empty: string;
  readonly one: string;
  readonly many: (count: number) => string;
  readonly such: string;
  readonly others: string;
}

/** Words of the chat itself, by language. */
export const texts: Readonly<Record<Language, Texts>> = {
  en: {
    closest: 'I am not sure that the documents answer this. What comes closest:',
    nothing: 'I found no answer to this in the documents.',
    unanswered: (part) => `I found no answer to “${part}” in the documents.`,
    passages: 'Passages',
    page: 'page',
    openPassage: 'Open',
    greeting: 'Hello! Ask me something about your documents.',
    thanks: 'You are welcome. Ask me anything else about your documents.',
    farewell: 'Goodbye! Your documents stay here for your next question.',
    agreement: 'What would you like to know?',
    about:
      'I am the chat of this library. I answer questions with quotes from your documents, and show where each of them stands. I say so where no document has an answer. You can also ask me to list the documents or to summarize one.',
    empty: 'There are no documents yet: upload some first.',
    one: 'There is 1 document',
    many: (count) => `There are ${count} documents`,
    such: 'such as',
    others: 'and others',
  },
  de: {
    closest: 'Ich bin nicht sicher, ob die Dokumente das beantworten. Am nächsten kommt:',
    nothing: 'Ich habe in den Dokumenten keine Antwort darauf gefunden.',
    unanswered: (part) => `Auf „${part}“ habe ich in den Dokumenten keine Antwort gefunden.`,
    passages: 'Fundstellen',
    page: 'Seite',
    openPassage: 'Öffnen',
    greeting: 'Hallo! Fragen Sie mich etwas zu Ihren Dokumenten.',
    thanks: 'Gern geschehen. Fragen Sie mich gern noch etwas zu Ihren Dokumenten.',
    farewell: 'Auf Wiedersehen! Ihre Dokumente bleiben hier für Ihre nächste Frage.',
    agreement: 'Was möchten Sie wissen?',
    about:
      'Ich bin der Chat dieser Bibliothek. Ich beantworte Fragen mit Zitaten aus Ihren Dokumenten und zeige, wo jedes steht. Wo kein Dokument eine Antwort hat, sage ich das.',
    empty: 'Es gibt noch keine Dokumente: Laden Sie zuerst welche hoch.',
    one: 'Es gibt 1 Dokument',
    many: (count) => `Es gibt ${count} Dokumente`,
    such: 'zum Beispiel',
    others: 'und andere',
  },
  fr: {
    closest: "Je ne suis pas sûr que les documents y répondent. Ce qui s'en approche le plus :",
    nothing: "Je n'ai pas trouvé de réponse à cela dans les documents.",
    unanswered: (part) => `Je n'ai pas trouvé de réponse à « ${part} » dans les documents.`,
    passages: 'Passages',
    page: 'page',
    openPassage: 'Ouvrir',
    greeting: 'Bonjour ! Posez-moi une question sur vos documents.',
    thanks: 'Je vous en prie. Posez-moi une autre question sur vos documents.',
    farewell: 'Au revoir ! Vos documents restent ici pour votre prochaine question.',
    agreement: 'Que voulez-vous savoir ?',
    about:
      "Je suis le chat de cette bibliothèque. Je réponds par des citations de vos documents et je montre où chacune se trouve. Quand aucun document n'a de réponse, je le dis.",
    empty: "Il n'y a pas encore de documents : importez-en d'abord.",
    one: 'Il y a 1 document',
    many: (count) => `Il y a ${count} documents`,
    such: 'par exemple',
    others: 'et d’autres',
  },
  es: {
    closest: 'No estoy seguro de que los documentos respondan a esto. Lo más cercano:',
    nothing: 'No he encontrado respuesta a esto en los documentos.',
    unanswered: (part) => `No he encontrado respuesta a «${part}» en los documentos.`,
    passages: 'Pasajes',
    page: 'página',
    openPassage: 'Abrir',
    greeting: '¡Hola! Pregúnteme algo sobre sus documentos.',
    thanks: 'De nada. Puede preguntarme algo más sobre sus documentos.',
    farewell: '¡Adiós! Sus documentos se quedan aquí para su próxima pregunta.',
    agreement: '¿Qué le gustaría saber?',
    about:
      'Soy el chat de esta biblioteca. Respondo con citas de sus documentos y muestro dónde está cada una. Cuando ningún documento tiene una respuesta, lo digo.',
    empty: 'Todavía no hay documentos: suba alguno primero.',
    one: 'Hay 1 documento',
    many: (count) => `Hay ${count} documentos`,
    such: 'por ejemplo',
    others: 'y otros',
  },
  it: {
    closest: 'Non sono sicuro che i documenti rispondano. Ciò che si avvicina di più:',
    nothing: 'Non ho trovato una risposta a questo nei documenti.',
    unanswered: (part) => `Non ho trovato una risposta a «${part}» nei documenti.`,
    passages: 'Passaggi',
    page: 'pagina',
    openPassage: 'Apri',
    greeting: 'Ciao! Chiedimi qualcosa sui tuoi documenti.',
    thanks: "Prego. Chiedimi pure qualcos'altro sui tuoi documenti.",
    farewell: 'Arrivederci! I tuoi documenti restano qui per la prossima domanda.',
    agreement: 'Che cosa vuoi sapere?',
    about:
      'Sono la chat di questa biblioteca. Rispondo con citazioni dai tuoi documenti e mostro dove si trova ognuna. Se nessun documento ha una risposta, lo dico.',
    empty: 'Non ci sono ancora documenti: caricane prima qualcuno.',
    one: "C'è 1 documento",
    many: (count) => `Ci sono ${count} documenti`,
    such: 'per esempio',
    others: 'e altri',
  },
  pt: {
    closest: 'Não tenho a certeza de que os documentos respondam a isto. O mais próximo:',
    nothing: 'Não encontrei resposta a isto nos documentos.',
    unanswered: (part) => `Não encontrei resposta a «${part}» nos documentos.`,
    passages: 'Passagens',
    page: 'página',
    openPassage: 'Abrir',
    greeting: 'Olá! Pergunte-me algo sobre os seus documentos.',
    thanks: 'De nada. Pergunte-me outra coisa sobre os seus documentos.',
    farewell: 'Até logo! Os seus documentos ficam aqui para a próxima pergunta.',
    agreement: 'O que gostaria de saber?',
    about:
      'Sou o chat desta biblioteca. Respondo com citações dos seus documentos e mostro onde está cada uma. Quando nenhum documento tem resposta, digo-o.',
    empty: 'Ainda não há documentos: carregue alguns primeiro.',
    one: 'Há 1 documento',
    many: (count) => `Há ${count} documentos`,
    such: 'por exemplo',
    others: 'e outros',
  },
  nl: {
    closest: 'Ik weet niet zeker of de documenten dit beantwoorden. Wat het dichtst in de buurt komt:',
    nothing: 'Ik heb hier in de documenten geen antwoord op gevonden.',
    unanswered: (part) => `Ik heb in de documenten geen antwoord gevonden op “${part}”.`,
    passages: 'Passages',
    page: 'pagina',
    openPassage: 'Openen',
    greeting: 'Hallo! Stel me een vraag over uw documenten.',
    thanks: 'Graag gedaan. Stel me gerust nog een vraag over uw documenten.',
    farewell: 'Tot ziens! Uw documenten blijven hier voor uw volgende vraag.',
    agreement: 'Wat wilt u weten?',
    about:
      'Ik ben de chat van deze bibliotheek. Ik beantwoord vragen met citaten uit uw documenten en laat zien waar elk citaat staat. Als geen document een antwoord heeft, zeg ik dat.',
    empty: 'Er zijn nog geen documenten: upload er eerst een paar.',
    one: 'Er is 1 document',
    many: (count) => `Er zijn ${count} documenten`,
    such: 'zoals',
    others: 'en andere',
  },
};
