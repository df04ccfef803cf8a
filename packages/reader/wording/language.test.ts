import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Language, languageOf, preferredLanguage } from './language.ts';

const questions: Readonly<Record<Language, readonly string[]>> = {
  en: [
    'How many days of vacation do I have?',
    'When does the lease end?',
    'who pays for the heating',
    'notice period of the contract',
    'Is water damage covered?',
    'What was decided about the bicycle shed?',
    'How long do I bake the bread?',
    'Which train leaves after six?',
    'May I keep a dog in the flat?',
    'deductible for theft abroad?',
    'Who is Jean-Luc de la Tour?',
    'Can children take this medicine',
    'Where can I park my car',
    'total of invoice 2024-17',
    'Does the price include VAT?',
  ],
  de: [
    'Wie viele Urlaubstage habe ich?',
    'Wann endet der Mietvertrag?',
    'wer zahlt die heizung',
    'Kündigungsfrist des Vertrags',
    'Ist ein Wasserschaden versichert?',
    'Was wurde über den Fahrradkeller beschlossen?',
    'Wie lange muss das Brot backen?',
    'Welcher Zug fährt nach sechs Uhr?',
    'Darf ich in der Wohnung einen Hund halten?',
    'Selbstbehalt bei Diebstahl im Ausland?',
    'Wer ist Jean-Luc de la Tour?',
    'Duerfen Kinder das Mittel nehmen',
    'Wo kann ich mein Auto parken',
    'Summe der Rechnung 2024-17',
    'Ist die Mehrwertsteuer im Preis enthalten?',
  ],
  fr: [
    'Combien de jours de congé ai-je ?',
    'Quand se termine le bail ?',
    'qui paie le chauffage',
    'délai de préavis du contrat',
    'Les dégâts des eaux sont-ils couverts ?',
    "Qu'a-t-on décidé pour le garage à vélos ?",
    'Combien de temps faut-il cuire le pain ?',
    'Quel train part après six heures ?',
    "Puis-je avoir un chien dans l'appartement ?",
    "Quelle est la franchise en cas de vol à l'étranger ?",
    'Qui est John Smith ?',
    'Les enfants peuvent-ils prendre ce médicament',
    'Ou puis-je garer ma voiture',
    'montant de la facture 2024-17',
    'Le prix comprend-il la TVA ?',
  ],
  es: [
    '¿Cuántos días de vacaciones tengo?',
    '¿Cuándo termina el contrato de alquiler?',
    'quien paga la calefaccion',
    'plazo de preaviso del contrato',
    '¿Están cubiertos los daños por agua?',
    '¿Qué se decidió sobre el garaje de bicicletas?',
    '¿Cuánto tiempo se hornea el pan?',
    '¿Qué tren sale después de las seis?',
    '¿Puedo tener un perro en el piso?',
    'franquicia en caso de robo en el extranjero',
    '¿Quién es John Smith?',
    'Pueden los niños tomar este medicamento',
    'Donde puedo aparcar el coche',
    'importe de la factura 2024-17',
    '¿El precio incluye el IVA?',
  ],
  it: [
    'Quanti giorni di ferie ho?',
    'Quando finisce il contratto di affitto?',
    'chi paga il riscaldamento',
    'termine di preavviso del contratto',
    "I danni dell'acqua sono coperti?",
    'Che cosa è stato deciso per le biciclette?',
    'Per quanto tempo devo cuocere il pane?',
    'Quale treno parte dopo le sei?',
    "Posso tenere un cane nell'appartamento?",
    "franchigia in caso di furto all'estero",
    'Chi è John Smith?',
    'I bambini possono prendere questo medicinale',
    "Dove posso parcheggiare l'auto",
    'importo della fattura 2024-17',
    "Il prezzo comprende l'IVA?",
  ],
  pt: [
    'Quantos dias de férias tenho?',
    'Quando termina o contrato de arrendamento?',
    'quem paga o aquecimento',
    'prazo de aviso prévio do contrato',
    'Os danos causados pela água estão cobertos?',
    'O que foi decidido sobre as bicicletas?',
    'Quanto tempo o pão fica no forno?',
    'Qual comboio parte depois das seis?',
    'Posso ter um cão no apartamento?',
    'franquia em caso de roubo no estrangeiro',
    'Quem é John Smith?',
    'As crianças podem tomar este medicamento',
    'Onde posso estacionar o carro',
    'valor da fatura 2024-17',
    'O preço inclui o IVA?',
  ],
  nl: [
    'Hoeveel vakantiedagen heb ik?',
    'Wanneer loopt het huurcontract af?',
    'wie betaalt de verwarming',
    'opzegtermijn van het contract',
    'Is waterschade gedekt?',
    'Wat is er over de fietsenstalling besloten?',
    'Hoe lang moet het brood in de oven?',
    'Welke trein vertrekt na zes uur?',
    'Mag ik een hond in het appartement houden?',
    'eigen risico bij diefstal in het buitenland',
    'Wie is John Smith?',
    'Mogen kinderen dit medicijn nemen',
    'Waar kan ik mijn auto parkeren',
    'bedrag van factuur 2024-17',
    'Is de btw bij de prijs inbegrepen?',
  ],
};

test('the language of nearly all short questions is known, and hardly ever taken for another', () => {
  const all = Object.entries(questions).flatMap(([language, texts]) =>
    texts.map((text) => ({ language, text, told: languageOf(text) })),
  );
  const wrong = all.filter(({ told, language }) => told !== undefined && told !== language);
  const unknown = all.filter(({ told }) => told === undefined);
  assert.ok(wrong.length <= 1, JSON.stringify(wrong));
  assert.ok(unknown.length <= 5, JSON.stringify(unknown));
});

test('names and numbers tell no language', () => {
  for (const text of ['', 'Gullfoss', '2024-17', 'DIN EN ISO 9001', '👋'])
    assert.equal(languageOf(text), undefined);
});

test("the browser's first language counts that the chat speaks", () => {
  assert.equal(preferredLanguage('pl,pt-BR;q=0.8,en;q=0.9'), 'en');
  assert.equal(preferredLanguage('fr-CH, fr;q=0.9, *;q=0.5'), 'fr');
  assert.equal(preferredLanguage('de;q=0, nl;q=0.1'), 'nl');
  for (const none of [undefined, '', 'pl', '*', ';;q=x']) assert.equal(preferredLanguage(none), undefined);
});
