"""Five hundred facts and three hundred questions to find some of them by, after the kinds that LoCoMo asks for.

Each fact that is asked for has four questions: in other words, around a corner, in German, and in another of the languages; a few
of these facts are in such a language themselves, and then asked for in English as well. Around them stand facts of the same kinds
about other people and rooms. All of it was written by hand for this test, with the same household in mind that the words in
`memory/words.json` were collected for: it measures finding among facts that are like each other, not the language as a whole. What
no word leads to, no search of words finds; a model gives `recall` several words for the same thing, which these questions do not.
"""

from itertools import product

ASKED: dict[str, tuple[str, str, str, str]] = {
    "The bins are collected on Tuesdays.": (
        "When is the trash picked up?",
        "Which day do I have to put the garbage out?",
        "Wann wird der Müll abgeholt?",
        "Quel jour est le ramassage des ordures ?",
    ),
    "The paper bin is emptied every second Friday.": (
        "When do they take the cardboard?",
        "How often is paper collected?",
        "Wann kommt die Altpapiertonne weg?",
        "¿Cuándo recogen el papel?",
    ),
    "Anna is allergic to hazelnuts.": (
        "Which nuts may Anna not eat?",
        "Is there any allergy to keep in mind when cooking for Anna?",
        "Welche Nüsse verträgt Anna nicht?",
        "À quelles noix Anna est-elle allergique ?",
    ),
    "Ben does not drink milk because he is lactose intolerant.": (
        "Can Ben have dairy?",
        "Why should there be no milk in Ben's coffee?",
        "Verträgt Ben Milch?",
        "¿Ben puede beber leche?",
    ),
    "100 ppm of CO2 more than outside is normal in the workshop.": (
        "What CO2 is usual in the workshop?",
        "Should I worry about the air in the workshop?",
        "Welche Luftwerte sind in der Werkstatt normal?",
        "Quel taux de CO2 est normal dans l'atelier ?",
    ),
    "The spare key is with Mrs Novak next door.": (
        "Who has our spare key?",
        "Where do I get a key when I am locked out?",
        "Bei wem liegt der Ersatzschlüssel?",
        "Où est la clé de rechange ?",
    ),
    "The dog gets his food at six in the evening.": (
        "When is the dog fed?",
        "At what time does the puppy eat?",
        "Wann wird der Hund gefüttert?",
        "A che ora mangia il cane?",
    ),
    "The cat needs her tablets every morning.": (
        "When does the cat get her medication?",
        "What must not be forgotten with the kitten before work?",
        "Wann bekommt die Katze ihre Tabletten?",
        "Quand le chat prend-il ses médicaments ?",
    ),
    "Our vet is Dr Lindqvist in Harbour Street.": (
        "Which veterinarian do we go to?",
        "Where do we take the animals when they are ill? To which vet?",
        "Wie heißt unsere Tierärztin?",
        "Quel est notre vétérinaire ?",
    ),
    "Clara's dentist appointment is on the ninth of May.": (
        "When does Clara go to the dentist?",
        "On which day are Clara's teeth looked at by the dentist?",
        "Wann muss Clara zum Zahnarzt?",
        "Quand Clara va-t-elle chez le dentiste ?",
    ),
    "Our doctor is Dr Okafor and closes at noon on Wednesdays.": (
        "Who is our physician?",
        "Until when can we see the GP on a Wednesday?",
        "Wie heißt unser Hausarzt?",
        "¿Quién es nuestro médico?",
    ),
    "Grandma arrives on the third of July and stays for two weeks.": (
        "When does granny come?",
        "How long does grandmother stay with us?",
        "Wann kommt Oma?",
        "Quand arrive mamie ?",
    ),
    "David was born on the 14th of October.": (
        "When is David's birthday?",
        "On what date do we celebrate David's birth?",
        "Wann hat David Geburtstag?",
        "Quelle est la date d'anniversaire de David ?",
    ),
    "Our wedding anniversary is on the 21st of June.": (
        "When did we get married?",
        "On which day in June should I buy flowers for our wedding?",
        "Wann ist unser Hochzeitstag?",
        "Quelle est la date de notre mariage ?",
    ),
    "The boiler was last serviced in March by Becker & Sons.": (
        "When was the furnace maintenance?",
        "Who looks after the boiler?",
        "Wann wurde der Heizkessel gewartet?",
        "Quand a eu lieu l'entretien de la chaudière ?",
    ),
    "The filter of the ventilation was changed in January.": (
        "When did we replace the filter?",
        "How old is the ventilation filter?",
        "Wann wurde der Filter der Lüftung getauscht?",
        "Quand le filtre a-t-il été changé ?",
    ),
    "The winter tyres are in the cellar of the neighbours.": (
        "Where are the tires for winter?",
        "What of ours is stored in the neighbours' basement?",
        "Wo liegen die Winterreifen?",
        "Où sont les pneus d'hiver ?",
    ),
    "The car is charged only when the sun shines.": (
        "When should the vehicle be charged?",
        "May I charge the car at night?",
        "Wann wird das Auto geladen?",
        "Quand recharge-t-on la voiture ?",
    ),
    "The living room lamp is called the moon.": (
        "What do we call the lamp in the living room?",
        "Which light is meant by the moon?",
        "Wie heißt die Lampe im Wohnzimmer?",
        "Comment s'appelle la lampe du salon ?",
    ),
    "The bathroom window sticks and must be pulled hard.": (
        "What is wrong with the window in the bathroom?",
        "Why does the window in the bath not close?",
        "Was ist mit dem Fenster im Badezimmer?",
        "Quel est le problème de la fenêtre de la salle de bain ?",
    ),
    "The alarm code for guests changes every month.": (
        "How often is the guests' alarm pin changed?",
        "Is last month's code for visitors still good?",
        "Wie oft wechselt der Alarmcode für Gäste?",
        "À quelle fréquence change le code des invités ?",
    ),
    "The wireless network for guests is called Seagull.": (
        "What is the name of the wifi for visitors?",
        "Which network may our guests use on their phones?",
        "Wie heißt das WLAN für Gäste?",
        "¿Cómo se llama la red wifi de invitados?",
    ),
    "The fuse box is behind the coats in the hall.": (
        "Where are the breakers?",
        "Where do I go when the power is out?",
        "Wo ist der Sicherungskasten?",
        "Où sont les fusibles ?",
    ),
    "The water is turned off under the stairs.": (
        "Where is the main tap for the water?",
        "How do I stop the water when a pipe under the stairs bursts?",
        "Wo stellt man das Wasser ab?",
        "Où coupe-t-on l'eau ?",
    ),
    "Hugo plays the violin on Monday afternoons.": (
        "When is Hugo's violin lesson?",
        "Which instrument does Hugo play?",
        "Wann hat Hugo Geige?",
        "Quand Hugo joue-t-il du violon ?",
    ),
    "Ida swims on Thursdays at five.": (
        "When does Ida have swimming?",
        "What sport does Ida do on Thursdays?",
        "Wann geht Ida schwimmen?",
        "¿A qué hora nada Ida los jueves?",
    ),
    "Football training of Leon is on Wednesdays behind the school.": (
        "When does Leon train soccer?",
        "Where is Leon on Wednesdays?",
        "Wann hat Leon Fußballtraining?",
        "Quand Leon a-t-il entraînement de foot ?",
    ),
    "The nursery closes at four, on Fridays at two.": (
        "Until when is daycare open?",
        "By what time must the little one be picked up from nursery on Friday?",
        "Wann schließt die Kita?",
        "À quelle heure ferme la crèche ?",
    ),
    "School starts again on the 12th of August.": (
        "When are the holidays from school over?",
        "When do the kids go back to school?",
        "Wann fängt die Schule wieder an?",
        "Quand reprend l'école ?",
    ),
    "We are on holiday in Denmark for the first two weeks of August.": (
        "Where do we go on vacation?",
        "When is nobody home because of the vacation?",
        "Wohin fahren wir in den Urlaub?",
        "Où partons-nous en vacances ?",
    ),
    "The cleaner comes on Mondays from nine to eleven.": (
        "When is the cleaning lady here?",
        "Who cleans on Mondays?",
        "Wann kommt die Putzhilfe?",
        "Quand vient la femme de ménage ?",
    ),
    "The robot must not vacuum while the baby sleeps.": (
        "When is the vacuum not allowed?",
        "May the robot clean during the nap?",
        "Wann darf der Saugroboter nicht fahren?",
        "Quand l'aspirateur ne doit-il pas marcher ?",
    ),
    "Quiet hours in the building are from one to three.": (
        "When do we have to be silent?",
        "May I drill at two, or is it quiet time?",
        "Wann ist Mittagsruhe im Haus?",
        "Quelles sont les heures de silence ?",
    ),
    "Emma likes it cool at night, 17 degrees at most.": (
        "How cold should Emma's night be?",
        "Which temperature does Emma prefer for sleeping?",
        "Wie kühl mag Emma es nachts?",
        "Quelle température Emma aime-t-elle la nuit ?",
    ),
    "Felix is afraid of the dark and needs the small lamp.": (
        "Why does Felix have a light at night?",
        "What scares Felix?",
        "Wovor hat Felix Angst?",
        "De quoi Felix a-t-il peur ?",
    ),
    "Greta's favourite colour is turquoise.": (
        "Which colour does Greta love?",
        "In what color should I wrap Greta's present?",
        "Was ist Gretas Lieblingsfarbe?",
        "Quelle est la couleur préférée de Greta ?",
    ),
    "Jonas wears shoes in size 43.": (
        "What is Jonas's shoe size?",
        "Which number do I buy when Jonas needs shoes?",
        "Welche Schuhgröße hat Jonas?",
        "Quelle est la pointure de Jonas ?",
    ),
    "Karla is a vegetarian but eats fish.": (
        "Does Karla eat meat?",
        "What can I cook for Karla?",
        "Isst Karla Fleisch?",
        "Karla mange-t-elle de la viande ?",
    ),
    "Ben hates coriander.": (
        "What herb does Ben detest?",
        "What should I leave out of Ben's soup? He hates it.",
        "Was mag Ben gar nicht, was hasst er?",
        "Qu'est-ce que Ben déteste ?",
    ),
    "Anna drinks her coffee with oat milk.": (
        "How does Anna take her coffee?",
        "What goes into Anna's espresso?",
        "Wie trinkt Anna ihren Kaffee?",
        "Comment Anna boit-elle son café ?",
    ),
    "The dishwasher should run after ten, when power is cheap.": (
        "When do we start the dishes?",
        "At what time is the dishwasher cheapest to run?",
        "Wann soll die Spülmaschine laufen?",
        "Quand faire tourner le lave-vaisselle ?",
    ),
    "The washing machine door opens two minutes after the end.": (
        "Why does the washer not open at once?",
        "How long do I wait for the laundry?",
        "Wann geht die Tür der Waschmaschine auf?",
        "Quand s'ouvre la porte du lave-linge ?",
    ),
    "The dryer is broken and will be repaired on Friday.": (
        "What is wrong with the tumble dryer?",
        "When does somebody fix the dryer?",
        "Wann wird der Trockner repariert?",
        "Quand le sèche-linge sera-t-il réparé ?",
    ),
    "The freezer in the garage is off on purpose.": (
        "Why is the freezer not running?",
        "May I put ice cream into the freezer of the garage?",
        "Warum ist der Gefrierschrank in der Garage aus?",
        "Pourquoi le congélateur du garage est-il éteint ?",
    ),
    "The oven is ten degrees hotter than it says.": (
        "How exact is the oven?",
        "Why does the cake burn? What about the oven's temperature?",
        "Wie viel heißer ist der Ofen?",
        "Le four est-il plus chaud qu'il ne dit ?",
    ),
    "The plants on the balcony are watered every other day.": (
        "How often do the flowers on the balcony need water?",
        "What has to be done outside on the balcony while we are away?",
        "Wie oft werden die Blumen auf dem Balkon gegossen?",
        "Combien de fois arroser les fleurs du balcon ?",
    ),
    "The lawn is mown on Saturdays before noon.": (
        "When is the grass cut? I mean the lawn.",
        "When may the mower run in the garden on a Saturday?",
        "Wann wird der Rasen gemäht?",
        "Quand tond-on la pelouse ?",
    ),
    "The hedge may be cut only until the end of February.": (
        "Until when can we trim the hedge?",
        "Is it legal to cut the hedge in summer?",
        "Bis wann darf die Hecke geschnitten werden?",
        "Jusqu'à quand peut-on tailler la haie ?",
    ),
    "The pool is heated from May to September.": (
        "In which months is the pool warm?",
        "When can we swim without freezing in the pool?",
        "Wann wird der Pool geheizt?",
        "Quand la piscine est-elle chauffée ?",
    ),
    "The solar panels were installed in 2021 by Sunrise Ltd.": (
        "Who put the panels on the roof?",
        "How old is the photovoltaic system?",
        "Seit wann haben wir die Solaranlage?",
        "Qui a posé les panneaux solaires ?",
    ),
    "The plumber is called Moretti and comes on weekends, too.": (
        "Whom do we call for a leak?",
        "Which plumber comes on a Sunday?",
        "Wie heißt unser Klempner?",
        "Comment s'appelle le plombier ?",
    ),
    "Our electrician is Ms Ferreira.": (
        "Who repairs the electricity?",
        "Who did the wiring, which electrician?",
        "Wer ist unsere Elektrikerin?",
        "Qui est notre électricienne ?",
    ),
    "The number of the gas meter is 77120.": (
        "Which number does our gas meter have?",
        "What do I give the supplier when they ask for the meter?",
        "Welche Nummer hat der Gaszähler?",
        "Quel est le numéro du compteur de gaz ?",
    ),
    "The electricity contract ends in November.": (
        "Until when are we bound to the power provider?",
        "When can we change the contract for electricity?",
        "Wann endet der Stromvertrag?",
        "Quand se termine le contrat d'électricité ?",
    ),
    "The rent is 1140 a month and due on the third.": (
        "How much do we pay for rent?",
        "When does the landlord want his money, the rent?",
        "Wie hoch ist die Miete?",
        "Combien coûte le loyer ?",
    ),
    "The household insurance is with Harbour Mutual.": (
        "Who insures our things?",
        "Whom do I tell when something was stolen, which insurance?",
        "Bei wem ist die Hausratversicherung?",
        "Chez qui est notre assurance ?",
    ),
    "The passports are in the blue folder in the study.": (
        "Where do we keep the passports?",
        "What is in the blue folder?",
        "Wo sind die Reisepässe?",
        "Où sont les passeports ?",
    ),
    "The ladder is in the neighbour's shed.": (
        "Where is our ladder?",
        "How do I get up to the gutter? Who has the ladder?",
        "Wo ist die Leiter?",
        "Où est l'échelle ?",
    ),
    "The drill is lent to Uncle Otto.": (
        "Who has our drill?",
        "Which tool has Otto borrowed?",
        "Wer hat die Bohrmaschine?",
        "Qui a la perceuse ?",
    ),
    "Parcels may be left with the baker.": (
        "Where can the package be delivered?",
        "Who takes deliveries when nobody is home? A parcel, I mean.",
        "Wo dürfen Pakete abgegeben werden?",
        "Où peut-on laisser les colis ?",
    ),
    "Die Mülltonnen müssen bis sechs Uhr an der Straße stehen.": (
        "By what time must the bins be on the street?",
        "How early must the rubbish be outside?",
        "Bis wann müssen die Tonnen raus?",
        "À quelle heure sortir les poubelles dans la rue ?",
    ),
    "Der Wohnungsschlüssel für den Keller hängt am roten Haken.": (
        "Where does the cellar key hang?",
        "What hangs on the red hook? A key?",
        "Wo hängt der Kellerschlüssel?",
        "Où est la clé de la cave ?",
    ),
    "Das Schlafzimmerfenster bleibt nachts immer gekippt.": (
        "Is the bedroom window open at night?",
        "Which window stays open at night?",
        "Welches Fenster bleibt nachts offen, im Schlafzimmer?",
        "La fenêtre de la chambre reste-t-elle ouverte la nuit ?",
    ),
    "Die Geschirrspülmaschine verträgt keine Pulvertabs.": (
        "Which tabs are wrong for the dishwasher?",
        "What must not go into the dishwasher?",
        "Was verträgt die Spülmaschine nicht?",
        "Qu'est-ce que le lave-vaisselle ne supporte pas ?",
    ),
    "Die Kindergartenleiterin heißt Frau Yilmaz.": (
        "Who runs the kindergarten?",
        "What is the name of the woman at the nursery?",
        "Wie heißt die Leiterin der Kita?",
        "Comment s'appelle la directrice de la maternelle ?",
    ),
    "Der Fahrradschuppen ist mit 4711 abgeschlossen.": (
        "How do I open the bike shed?",
        "Where is 4711 used, at the bicycles?",
        "Wie kommt man in den Schuppen mit den Rädern?",
        "Comment ouvrir l'abri à vélos ?",
    ),
    "Die Heizungspumpe im Keller brummt, das ist harmlos.": (
        "Is the humming of the heating pump in the cellar bad?",
        "What hums in the basement?",
        "Was brummt im Keller?",
        "Qu'est-ce qui bourdonne à la cave ?",
    ),
    "Opas Herzmedikament muss vor dem Frühstück genommen werden.": (
        "When does grandpa take his medicine?",
        "What must grandfather swallow before breakfast?",
        "Wann nimmt Opa seine Tabletten?",
        "Quand papi prend-il son médicament ?",
    ),
    "Le chauffage de la salle de bain s'arrête à vingt-deux heures.": (
        "When does the heating in the bathroom stop?",
        "Why is the bathroom cold at night?",
        "Wann geht die Heizung im Bad aus?",
        "Quand s'arrête le chauffage de la salle de bains ?",
    ),
    "Le jardinier passe le premier lundi du mois.": (
        "When does the gardener come?",
        "Who comes on the first Monday for the garden?",
        "Wann kommt der Gärtner?",
        "¿Qué lunes viene el jardinero?",
    ),
    "La llave del buzón está en el cajón de la cocina.": (
        "Where is the key of the mailbox?",
        "What opens the letterbox, and where is it?",
        "Wo ist der Briefkastenschlüssel?",
        "Où est la clé de la boîte aux lettres ?",
    ),
    "La lavatrice si usa solo di notte.": (
        "When may we do the washing?",
        "May I run the washing machine at noon?",
        "Wann darf die Waschmaschine laufen?",
        "Quando si fa il bucato in lavatrice?",
    ),
    "De buurvrouw geeft de planten water in de vakantie.": (
        "Who waters the plants during the holidays?",
        "Who looks after the plants while we are on vacation?",
        "Wer gießt die Pflanzen im Urlaub?",
        "Qui arrose les plantes pendant les vacances ?",
    ),
    "Lekarz dzieci przyjmuje we wtorki.": (
        "When can the children see the doctor?",
        "On which day is the kids' physician there?",
        "Wann hat der Kinderarzt offen, an welchem Tag ist der Arzt für Kinder da?",
        "Quand le médecin des enfants reçoit-il ?",
    ),
    "宠物猫不能吃鱼。": (
        "What must the cat not eat?",
        "Is fish good for our cat?",
        "Was darf die Katze nicht fressen, Fisch?",
        "猫不能吃什么?",
    ),
}

_PEOPLE = ("Mila", "Noah", "Olga", "Paul", "Quirin", "Rosa", "Sven", "Tara", "Uwe", "Vera", "Willem", "Xenia")
_OF_PEOPLE = (
    *(
        "{} is allergic to {}.",
        "{} was born on the {} of April.",
        "{} wears shoes in size {}.",
        "{}'s favourite colour is {}.",
    ),
    *(
        "{} likes it {} at night.",
        "{} drinks tea with {}.",
        "{} hates {}.",
        "{} goes swimming on {}s.",
        "{} has piano on {}s.",
    ),
    *(
        "{} works from home on {}s.",
        "{}'s dentist is Dr {}.",
        "{} takes the bus at {}.",
        "{} loves songs by {}.",
        "{} goes to bed at {}.",
    ),
    *(
        "{}'s phone number ends with {}.",
        "{} is afraid of {}.",
        "{} eats no {}.",
        "{}'s desk is {} cm high.",
        "{} gets pocket money on {}s.",
    ),
)
_VALUES = {
    "allergic": ("pollen", "cats", "eggs", "wool"),
    "born": ("1st", "7th", "19th", "28th"),
    "size": ("37", "39", "41", "45"),
    "colour": ("red", "green", "black", "orange"),
    "likes it": ("warm", "dark", "quiet", "airy"),
    "tea": ("lemon", "sugar", "honey", "mint"),
    "hates": ("olives", "rain", "mondays", "raisins"),
    "dentist": ("Abel", "Bruun", "Costa", "Dahl"),
    "bus": ("6:50", "7:10", "7:35", "8:05"),
    "songs": ("Abba", "Queen", "Adele", "Bach"),
    "bed": ("eight", "nine", "ten", "eleven"),
    "phone": ("112", "447", "808", "931"),
    "afraid": ("spiders", "dogs", "storms", "lifts"),
    "eats no": ("pork", "beef", "cheese", "rice"),
    "high": ("68", "72", "75", "81"),
}
_DAYS = ("Monday", "Tuesday", "Friday", "Saturday")
_ROOMS = (
    "kitchen",
    "attic",
    "study",
    "laundry",
    "hall",
    "nursery",
    "guest room",
    "terrace",
    "garage",
    "library",
    "pantry",
)
_OF_ROOMS = (
    *("The {} was painted {}.", "The radiator of the {} is set to {}.", "The blinds of the {} close at {}."),
    *(
        "The carpet of the {} came from {}.",
        "The smoke alarm of the {} was tested in {}.",
        "The socket of the {} carries {} watts.",
    ),
    *(
        "The lamp of the {} has a bulb of {} lumen.",
        "The floor of the {} is cleaned with {}.",
        "The clock of the {} is {} minutes fast.",
    ),
    *(
        "The picture in the {} was bought in {}.",
        "The heater of the {} makes {} noises.",
        "The shelf of the {} holds {} kilos.",
    ),
)
_OF_ROOM_VALUES = ("white", "three", "eight", "Oslo", "June", "2000", "soap", "Lyon", "odd", "forty")


def _others() -> list[str]:
    """Return facts that nobody asks for."""
    found = []
    for number, (person, form) in enumerate(product(_PEOPLE, _OF_PEOPLE)):
        values = next((each for key, each in _VALUES.items() if key in form), _DAYS)
        found.append(form.format(person, values[number % len(values)]))
    for number, (room, form) in enumerate(product(_ROOMS, _OF_ROOMS)):
        found.append(form.format(room, _OF_ROOM_VALUES[number % len(_OF_ROOM_VALUES)]))
    found += [f"The appliance in drawer {number} is guaranteed until {2026 + number % 7}." for number in range(100)]
    return found


FACTS = [*ASKED, *_others()][:500]
QUESTIONS = [(question, fact) for fact, questions in ASKED.items() for question in questions]
