# Deutsch. Words between < and > are markup; values in { } are filled in.

## Every page

language-name = Deutsch
error-title = Fehler:
error-label = Fehler:
returns = Rücksendungen
skip = Zum Hauptinhalt springen
back = Zurück
continue = Weiter
language = Sprache:
brand-label = Rücksendungen bei { $shop }, zur Startseite
support-notice = <bdi>{ $name }</bdi> handelt für die Kundin oder den Kunden.
help-heading = Brauchen Sie Hilfe?
help-write = Schreiben Sie an
help-call = Rufen Sie an:
link-shop = Zurück zu { $shop }
link-privacy = Datenschutz
link-terms = AGB
write-to-us = Schreiben Sie uns.
start-again = Rücksendung anmelden
# Legal wording: for review by counsel.
cookie-note = Wir setzen ein Cookie, damit Sie 30 Minuten lang nichts neu eingeben müssen, eines, während Sie einen Vertrag widerrufen, und eines, wenn Sie eine Sprache wählen. Kein Tracking, keine Werbung. Die Rücksendungen von { $shop } betreibt Backhaul.
faults-heading = Da stimmt etwas nicht
money = { $amount } { $symbol }
less = −{ $amount }
step = Schritt { $step } von 5
step-item = Schritt { $step } von 5 · Artikel { $item } von { $items }
return-by = Rückgabe bis
return-by-within = Rückgabe bis
by-day = Bis zum { $day }
units-of = { $units } von { $quantity }
units = { $units ->
    [one] 1 Stück
   *[other] { $units } Stück
}
price-each = pro Stück
free = Kostenlos

## Finding the order

find-title = Bestellung finden
find-heading = Etwas zurückgeben oder umtauschen
find-lede = Zuerst finden wir Ihre Bestellung. Ein Kundenkonto brauchen Sie nicht.
find-number = Bestellnummer
find-number-hint = Steht in Ihrer Bestätigungsmail.
find-key = E-Mail-Adresse oder Postleitzahl
find-key-hint = Wie bei der Bestellung angegeben. Eins von beiden genügt.
find-button = Bestellung finden
find-number-missing = Geben Sie Ihre Bestellnummer ein
find-key-missing = Geben Sie die E-Mail-Adresse oder die Postleitzahl der Bestellung ein
find-miss-heading = Wir finden diese Bestellung nicht
find-miss = Prüfen Sie die Bestellnummer und die E-Mail-Adresse oder Postleitzahl
find-miss-note = Beide Angaben müssen zusammengehören. Oft hilft es:
find-miss-copy = die Nummer aus der Bestätigungsmail zu kopieren
find-miss-postcode = die Postleitzahl statt der E-Mail-Adresse zu nehmen
find-miss-wait = ein paar Minuten zu warten, wenn Sie gerade erst bestellt haben
find-elsewhere = Woanders gekauft?
find-elsewhere-answer = Wir können nur zurücknehmen, was bei { $shop } bestellt wurde. Bei allem anderen fragen Sie dort, wo Sie es gekauft haben.

lost-link = Nummer nicht zur Hand? Link per E-Mail anfordern

## A link by e-mail

lost-title = Link per E-Mail anfordern
lost-heading = Link per E-Mail anfordern
lost-lede = Wir schicken Ihnen einen Link zu Ihren Bestellungen und Rücksendungen. Eine Bestellnummer brauchen Sie nicht.
lost-email = E-Mail-Adresse der Bestellung
lost-wrong = Geben Sie eine E-Mail-Adresse ein, zum Beispiel name@example.com
lost-send = Link senden
lost-number = Lieber die Bestellnummer verwenden
sent-title = Sehen Sie in Ihr Postfach
sent-heading = Sehen Sie in Ihr Postfach
sent-lede = Wenn wir Bestellungen zu <b>{ $email }</b> haben, ist ein Link unterwegs. Er gilt einmal und eine Stunde lang.
sent-nothing = Nach fünf Minuten noch nichts da?
sent-spam = Sehen Sie im Spam- oder Werbeordner nach.
sent-other = Mit einer anderen E-Mail-Adresse bestellt?
sent-other-try = Versuchen Sie es mit dieser.
sent-number = Bestellnummer zur Hand?
sent-number-find = Finden Sie die Bestellung damit.
link-title = Ihre Bestellungen und Rücksendungen öffnen
link-heading = Ihre Bestellungen und Rücksendungen öffnen
link-lede = Ihr Link gilt einmal. Er ist verbraucht, sobald Sie auf „Weiter“ tippen.
link-why = Warum noch ein Schritt?
link-why-answer = Manche Mailprogramme öffnen jeden Link, um ihn zu prüfen. Mit diesem Schritt verbrauchen nur Sie Ihren Link.
link-device = Nicht Ihr eigenes Gerät?
link-device-answer = Nach 30 Minuten ohne Eingabe schließen wir Ihre Bestellungen. Schließen Sie auf einem gemeinsam genutzten Gerät das Fenster, wenn Sie fertig sind.
used-title = Dieser Link gilt nicht mehr
used-heading = Dieser Link gilt nicht mehr
used-lede = Ein Link gilt einmal und eine Stunde lang. Dieser wurde schon verwendet oder seine Stunde ist um. An Ihren Rücksendungen hat sich nichts geändert.
used-hint = Wir schicken Ihnen einen neuen Link.
used-send = Neuen Link senden
used-latest = Mehrere Links angefordert? Nehmen Sie den aus der neuesten E-Mail.
orders-title = Ihre Bestellungen
orders-heading = Um welche Bestellung geht es?
orders-open = Mit dieser Bestellung weiter

## The promises beside the first pages

promises = Rücksendungen bei { $shop }
promise-window = <b>{ $days } Tage Zeit.</b> Gerechnet ab dem Tag, an dem wir die Ware verschickt haben.
promise-express = <b>Ohne Drucker, ohne Karton.</b> Zeigen Sie an einer Abgabestelle einen Code.
promise-exchange = <b>Andere Größe?</b> Tauschen Sie ohne Aufpreis um.

## Choosing

items-title = Artikel wählen
items-heading = Was möchten Sie zurücksenden?
items-lede = Wählen Sie aus, was zurückgeht. Die Preise sind das, was Sie bezahlt haben, nach Abzug aller Rabatte.
items-gift-lede = Das war ein Geschenk, deshalb sehen Sie keine Preise. Was Sie bekommen, geht an Sie, und wer es gekauft hat, erfährt von uns nichts.
items-how-many = Wie viele gehen zurück?
items-none = Wählen Sie mindestens einen Artikel aus
items-partly = { $units ->
    [one] { $units } von { $quantity } kann zurückgegeben werden. { $why }
   *[other] { $units } von { $quantity } können zurückgegeben werden. { $why }
}
items-cannot = Diese Artikel können nicht zurückgegeben werden
items-damaged = Beschädigt oder falsch geliefert? Das ist etwas anderes.
items-nothing-title = Nichts kann zurückgegeben werden
items-nothing = Aus dieser Bestellung kann nichts zurückgegeben werden
items-more = Was Sie noch tun können
items-other = Eine andere Bestellung?
items-other-find = Hier finden Sie sie.
giftee-label = Ihre E-Mail-Adresse
giftee-hint = Dorthin geht die Geschenkkarte. Wer das Geschenk gekauft hat, erfährt sie nicht.
giftee-missing = Geben Sie Ihre E-Mail-Adresse ein, zum Beispiel name@example.com
order-heading = Bestellung { $order }
order-placed = Bestellt
order-shipped = Versandt

held-order_cancelled = Die Bestellung wurde storniert.
held-cancelled = Vor dem Versand storniert.
held-not_shipped = Noch nicht versandt. Kommen Sie wieder, wenn die Ware bei Ihnen ist.
held-refunded = Bereits erstattet.
held-in_return = Bereits in einer anderen Rücksendung.
# Legal wording: for review by counsel.
held-final_sale = Von der Rückgabe ausgeschlossen. Darauf wurde beim Kauf hingewiesen.
held-gift = Das kann hier nicht zurückgegeben werden. Schreiben Sie uns, wir kümmern uns darum.
# Legal wording: for review by counsel.
held-gift_card = Gutscheine können nicht zurückgegeben werden.
held-pickup_in_store = In einer Filiale abgeholt. Geben Sie es dort zurück.
held-third_party = Von einem anderen Händler verkauft. Wenden Sie sich für die Rückgabe an ihn.
# Legal wording: for review by counsel.
held-window_over = Die Rückgabefrist ist abgelaufen.
# Legal wording: for review by counsel.
held-window_over-on = Die Rückgabefrist ist am { $day } abgelaufen.

## Why

reason-title = Warum geht es zurück?
reason-heading = Warum geht es zurück?
reason-lede = So finden wir das passende Angebot für Sie. Sie müssen es uns nicht sagen.
reason-legend = Warum geht { $title } zurück?
reason-TOO_SMALL = Zu klein
reason-TOO_LARGE = Zu groß
reason-CHANGED_MIND = Ich habe es mir anders überlegt
reason-NOT_AS_DESCRIBED = Nicht wie beschrieben
reason-DAMAGED = Beschädigt oder defekt
reason-WRONG_ITEM = Nicht das, was ich bestellt habe
reason-NOT_GIVEN = Möchte ich nicht sagen

## What instead

draft-heading = Ihre Rücksendung

instead-title = Was möchten Sie stattdessen?
instead-heading = Was möchten Sie stattdessen?
instead-legend = Was möchten Sie anstelle von { $title }?
instead-exchange = Andere Größe oder Farbe
instead-exchanged = Umtausch
instead-kept = Sie behalten es
instead-exchange-note = Wir bestellen es, sobald Sie bestätigen. Sie müssen nicht warten, bis der alte Artikel bei uns ist.
instead-exchange-slow = Wir können gerade nicht sehen, was vorrätig ist. Ihre Angaben bleiben erhalten; versuchen Sie es in einer Minute noch einmal.
instead-exchange-sold-out = Ausverkauft
instead-exchange-none = Alles, wogegen wir tauschen könnten, ist ausverkauft.
instead-again = Noch einmal versuchen
instead-refund = Erstattung
instead-refund-note = Über die ursprüngliche Zahlungsart, sobald die Ware bei uns ist.
instead-gift-card = Gutschein
instead-gift-card-note = Per E-Mail.
instead-gift-note = Per E-Mail, sobald die Ware bei uns ist. Den Betrag sehen Sie, wenn sie bei Ihnen ankommt.
instead-gift-card-bonus = { $worth } für Ihre Rücksendung und <b>{ $bonus } obendrauf</b> von uns. Per E-Mail.
instead-once = Eine Bestellung kann einmal umgetauscht werden. Erledigen Sie jeden Umtausch dieser Bestellung jetzt.
instead-none = Wählen Sie, was Sie stattdessen möchten

exchange-title = Welchen Artikel möchten Sie?
exchange-heading = Welchen Artikel möchten Sie?
exchange-variant = Ausführung
exchange-note = Gleicher Preis, keine Zuzahlung. Wir bestellen, sobald Sie bestätigen.
exchange-other = Meine Wahl ist nicht dabei
exchange-none = Wählen Sie eine Ausführung
exchange-gone = Diese Ausführung ist gerade ausverkauft. Wählen Sie eine andere
sold-out = ausverkauft
in-stock = vorrätig
left = noch { $left }

## How

how-title = Wie möchten Sie es zurücksenden?
how-heading = Wie möchten Sie es zurücksenden?
how-keep-heading = Zurücksenden oder behalten?
how-lede-fee = Alles geht zusammen zurück. Eine Gebühr ziehen wir von Ihrer Erstattung ab; jetzt zahlen Sie nichts.
how-express-returns = An einer Abgabestelle abgeben
how-express-returns-note = Zeigen Sie dort einen Code. Verpackt und etikettiert wird vor Ort.
how-mail-back = Mit Rücksendeetikett verschicken
how-mail-back-note = Packen Sie alles in einen Karton, kleben Sie das Etikett auf und geben Sie das Paket beim Versanddienst ab.
how-customer-keep = Behalten
how-customer-keep-note = Nutzen, verschenken oder recyceln Sie es. Ihr Geld bekommen Sie trotzdem.
how-none = Wählen Sie, wie Sie es zurücksenden möchten
fact-no-printer = Kein Drucker
fact-no-box = Kein Karton
fact-printer = Drucker nötig
fact-box = Karton nötig
fact-nothing = Nichts zu versenden

## Check and confirm

check-title = Prüfen und bestätigen
check-heading = Prüfen Sie alles, bevor Sie bestätigen
check-reason = Grund
check-instead = Stattdessen
check-change = Ändern
check-change-reason = Grund für
check-change-instead = was Sie bekommen für
check-change-way = Rückversand
check-exchange = Umtausch gegen { $variant }
check-refund = Erstattung über die ursprüngliche Zahlungsart
check-gift = Geschenkkarte über den Wert
check-gift-lede = Wer das Geschenk gekauft hat, erfährt von uns nichts von dieser Rücksendung.
check-gift-amount = Eine Geschenkkarte über den Wert der Ware. Den Betrag sehen Sie, wenn sie bei Ihnen ankommt.
check-giftee = Geht an
check-change-giftee = Ihre E-Mail-Adresse
check-way = Rückversand
check-fee = Gebühr
check-new-goes = Der neue Artikel geht an
check-new-address = die Adresse der Bestellung
check-bill = Ihre Erstattung
check-gets = Was Sie bekommen
check-estimate = Das ist eine Schätzung, bis wir die Artikel geprüft haben.
check-until = Danach haben Sie Zeit für die Abgabe bis
check-confirm = Rücksendung bestätigen
check-confirming = Wird bestätigt …
check-items = Artikel ändern
bill-caption = Voraussichtliche Erstattung, Zeile für Zeile
bill-units = { $title }, { $units } Stück
bill-price = Preis
bill-discount = Rabatte
bill-tax = Steuer
bill-exchanged = Umtausch zum gleichen Preis
bill-fee = Gebühr für den Rückversand
bill-total = Voraussichtliche Erstattung
bill-gift-card = Gutschein
bill-gift-card-bonus = Gutschein, mit { $bonus } obendrauf

changed-title = Etwas hat sich geändert
changed-not-started = Die Rücksendung wurde nicht angemeldet
changed-heading = Etwas hat sich geändert
changed-lede = Alle anderen Angaben sind noch so, wie Sie sie gemacht haben.
changed-chose = Ihre Wahl
changed-now = Jetzt
changed-item = { $title }: { $now }
changed-none = Das kann nicht mehr zurückgegeben werden. { $why }
changed-fewer = { $units ->
    [one] Nur noch { $units } von { $quantity } kann zurückgegeben werden. { $why }
   *[other] Nur noch { $units } von { $quantity } können zurückgegeben werden. { $why }
}
changed-sold-out = Es ist gerade ausverkauft.
changed-slow = Wir können gerade nicht sehen, was vorrätig ist.
changed-exchanged = Diese Bestellung wurde schon umgetauscht, und das geht nur einmal.
changed-no-exchange = Das ist nicht mehr möglich.
changed-exchange = Umtausch gegen { $variant }
changed-see-all = Alles Vorrätige ansehen
changed-way = Der gewählte Rückversand ist nicht mehr möglich. Wählen Sie auf der nächsten Seite einen anderen.

## Done

done-title = Ihre Rücksendung ist bestätigt
done-heading = Ihre Rücksendung ist bestätigt
done-show-code = An der Abgabestelle vorzeigen
done-code-alt = Der QR-Code Ihrer Rücksendung
done-say-code = oder diesen Code nennen
done-number = Ihre Rücksendenummer
done-parcel = Paketnummer
done-drop-until = Abgeben bis
done-send-until = Verschicken bis
done-until = Abgeben bis
done-items = Artikel
done-cost-label = Kosten
done-cost = { $amount }
done-cost-deducted = { $amount }, wird von der Erstattung abgezogen
done-label = Etikett öffnen (PDF)
done-show = Erneut prüfen
done-follow = Rücksendung verfolgen
done-pending-code = Ihr Code wird erstellt.
done-pending-label = Ihr Etikett wird erstellt.
done-pending-note = Das dauert ein paar Sekunden. Sie können jederzeit auf diese Seite zurückkommen.
done-unlabelled = Ihr Etikett ist noch nicht da.
done-unlabelled-note = Der Shop erstellt es, dann erscheint es auf dieser Seite. Kommen Sie später wieder oder schreiben Sie uns.
done-refused-title = Ihre Rücksendung ist bestätigt, ohne Etikett
done-refused-heading = Ihre Rücksendung ist bestätigt, aber der Versanddienst erstellt kein Etikett
done-refused-lede = Der Versanddienst hat für die Adresse dieser Bestellung kein Etikett erstellt. Wählen Sie einen anderen Rückversand oder schreiben Sie uns.
done-another = Anderen Rückversand wählen
done-kept-heading = Alles erledigt. Sie dürfen es behalten
done-kept-lede = Sie müssen nichts zurücksenden.
done-kept-refund = Erstattung über die ursprüngliche Zahlungsart
next-heading = So geht es weiter
next-drop-off = Bringen Sie alles bis zum <b>{ $day }</b> zu einer Abgabestelle. Ein Karton ist nicht nötig.
next-send = Packen Sie alles in einen Karton, kleben Sie das Etikett auf und verschicken Sie das Paket bis zum <b>{ $day }</b>. Heben Sie den Beleg auf.
next-drop-off-open = Bringen Sie alles zu einer Abgabestelle. Ein Karton ist nicht nötig.
next-send-open = Packen Sie alles in einen Karton, kleben Sie das Etikett auf und verschicken Sie das Paket. Heben Sie den Beleg auf.
next-exchange = { $what ->
    [card] Wir bestellen Ihren Gutschein <b>jetzt</b>. Er kommt per E-Mail.
    [both] Wir bestellen den neuen Artikel und Ihren Gutschein <b>jetzt</b>.
   *[goods] Wir bestellen den neuen Artikel <b>jetzt</b>.
}
next-exchange-placed = { $what ->
    [card] Ihr Gutschein ist <b>bestellt</b>. Er kommt per E-Mail.
    [both] Der neue Artikel und Ihr Gutschein sind <b>bestellt</b>.
   *[goods] Der neue Artikel ist <b>bestellt</b>.
}
next-refund = { $gift ->
    [yes] Sobald die Ware bei uns ist, bekommen Sie eine <b>Geschenkkarte</b> per E-Mail.
   *[no] Sobald die Ware bei uns ist, erstatten wir Ihnen etwa <b>{ $amount }</b> über die ursprüngliche Zahlungsart.
}

postcode-title = Postleitzahl eingeben
postcode-heading = Geben Sie die Postleitzahl ein, um das Etikett zu sehen
postcode-lede = Auf dem Etikett stehen ein Name und eine Adresse. Deshalb fragen wir vorher.
postcode = Postleitzahl
postcode-hint = Der Adresse, an die die Bestellung ging.
postcode-show = Etikett zeigen
postcode-miss = Prüfen Sie die Postleitzahl
postcode-not-needed = Um zu sehen, wo Ihre Rücksendung ist, brauchen Sie das Etikett nicht.

## Where it is

returns-title = Ihre Rücksendungen
returns-heading = { $returns ->
    [one] Zu dieser Bestellung gibt es eine Rücksendung
   *[other] Zu dieser Bestellung gibt es { $returns } Rücksendungen
}
returns-see = Rücksendung ansehen
returns-more = Noch etwas zurücksenden
returns-refund = Etwa { $amount }, sobald die Ware bei uns ist
status-title = Wo Ihre Rücksendung ist
status-return = Rücksendung
status-ticket-express-returns = Code zeigen
status-ticket-mail-back = Etikett zeigen
status-again = Neue Rücksendung anmelden
status-bill = So setzt sich Ihre Erstattung zusammen
status-help = Hilfe zu dieser Rücksendung
status-mention = und nennen Sie
status-cancel = Rücksendung stornieren
status-too-late = Diese Rücksendung kann nicht mehr storniert werden, weil sie unterwegs ist.
status-exchanged = Diese Rücksendung kann nicht storniert werden, weil Ihr Ersatz bestellt ist.

status-waiting-heading = Bereit zum Versand
status-waiting-drop-heading = Bereit zur Abgabe
status-waiting-lede = Sie haben Zeit bis { $day }.
status-sold-out-heading = Ausverkauft. Sie bekommen stattdessen eine Erstattung
status-dropped-off-heading = Abgegeben
status-dropped-off-lede = Das Paket ist bald auf dem Weg zu uns.
status-on-its-way-heading = Ihr Paket ist auf dem Weg zu uns
status-on-its-way-lede = Sie müssen nichts weiter tun.
status-arrived-heading = Ihr Paket ist bei uns
status-arrived-lede = Als Nächstes sehen wir uns die Artikel an.
status-coming-back-heading = Ihr Paket kommt zu Ihnen zurück
status-coming-back-lede = Der Versanddienst konnte es uns nicht zustellen. Sie haben nichts falsch gemacht. Schreiben Sie uns, wenn es bei Ihnen ist.
status-trouble-heading = Beim Versanddienst gibt es ein Problem mit Ihrem Paket
status-trouble-lede = Sie haben nichts falsch gemacht. Wir behalten es im Auge.
status-refunded-heading = Ihre Rücksendung ist abgeschlossen
status-refunded-lede = { $gift ->
    [yes] Wir haben Ihnen alles geschickt, was Sie dafür bekommen.
   *[no] Wir haben { $amount } erstattet, und zwar über die ursprüngliche Zahlungsart.
}
status-partly-heading = Wir haben einen Teil erstattet
status-partly-lede = { $gift ->
    [yes] Einen Teil haben wir Ihnen schon geschickt.
   *[no] Bisher: { $amount }, über die ursprüngliche Zahlungsart.
}
status-kept-heading = Sie dürfen es behalten
status-kept-lede = { $gift ->
    [yes] Sie bekommen einen Gutschein per E-Mail.
   *[no] Sie bekommen { $amount } erstattet, über die ursprüngliche Zahlungsart.
}
status-cancelled-heading = Diese Rücksendung ist storniert
status-cancelled-lede = Sie behalten die Artikel. Der Code gilt nicht mehr.
status-expired-heading = Diese Rücksendung ist abgelaufen
status-expired-lede = Die Artikel kamen nicht rechtzeitig bei uns an. Deshalb wurde die Rücksendung geschlossen.

chip-waiting = Wartet auf Sie
chip-dropped-off = Abgegeben
chip-on-its-way = Auf dem Weg zu uns
chip-arrived = Bei uns
chip-coming-back = Auf dem Weg zu Ihnen
chip-trouble = Problem unterwegs
chip-refunded = Abgeschlossen
chip-partly = Teilweise erstattet
chip-kept = Sie dürfen es behalten
chip-cancelled = Storniert
chip-expired = Abgelaufen
unit-refunded = Erstattet
unit-not-arrived = Nicht angekommen
unit-exchanged = Umgetauscht
unit-waiting = Noch nicht erstattet
partly-units = Stück für Stück
sold-out-changes = Was sich ändert
sold-out-refund = Was Sie stattdessen gewählt hatten, war ausverkauft, als wir es bestellt haben. Sie bekommen dafür eine Erstattung, über die ursprüngliche Zahlungsart. Sonst müssen Sie nichts tun.

time-heading = Was bisher geschah
time-done = Erledigt:
time-now = Jetzt:
time-todo = Noch offen:
time-bad = Problem:
time-exchange-pending = { $what ->
    [card] Wir bestellen Ihren Gutschein
    [both] Wir bestellen den neuen Artikel und Ihren Gutschein
   *[goods] Wir bestellen den neuen Artikel
}
time-drop-off = Geben Sie es ab
time-send = Verschicken Sie es
time-arrives = Ihr Paket kommt bei uns an
time-refund-about = { $gift ->
    [yes] Geschenkkarte
   *[no] Erstattung von etwa { $amount }
}
time-refund-note = { $gift ->
    [yes] Per E-Mail
   *[no] Über die ursprüngliche Zahlungsart
}
time-refunded-amount = { $gift ->
    [yes] An Sie geschickt
   *[no] { $amount } erstattet
}
event-confirmed = Rücksendung bestätigt
event-code-made = Code erstellt
event-label-made = Etikett erstellt
event-dropped-off = Abgegeben
event-on-its-way = Unterwegs
event-arrived = Paket bei uns angekommen
event-received = Artikel bei uns angekommen
event-coming-back = Nicht zustellbar, kommt zu Ihnen zurück
event-trouble = Problem beim Versanddienst
event-cancelled = Storniert
event-expired = Geschlossen, nichts erhalten
event-exchange-placed = { $what ->
    [card] Ihr Gutschein ist bestellt
    [both] Der neue Artikel und Ihr Gutschein sind bestellt
   *[goods] Der neue Artikel ist bestellt
}
event-exchange-converted = Umtausch nicht möglich

cancel-title = Rücksendung stornieren?
cancel-heading = Rücksendung stornieren?
cancel-code = Der Code
cancel-code-stops = gilt dann nicht mehr. Geben Sie damit nichts mehr ab.
cancel-keep = Sie behalten die Artikel. Es gibt keine Erstattung und keine Gebühr.
cancel-again = Solange die Artikel zurückgegeben werden können, können Sie von vorn beginnen.
cancel-yes = Ja, stornieren
cancel-no = Nein, Rücksendung behalten
cancel-late-title = Stornieren ist nicht mehr möglich
cancel-late-heading = Stornieren ist nicht mehr möglich
cancel-late-lede = Sie ist schon unterwegs. Ihre Rücksendung läuft weiter wie geplant.
cancel-late-see = Rücksendung ansehen

## Trouble

missing-title = Seite nicht gefunden
missing-heading = Wir finden diese Seite nicht
missing-lede = Vielleicht ist der Link unvollständig oder zu alt. Ihre Bestellungen und Rücksendungen sind sicher.
missing-nowhere = Nehmen Sie den Link in Ihrer Bestellbestätigung oder den auf den Seiten des Shops.
foreign-title = Dieses Formular funktioniert nicht
foreign-heading = Dieses Formular funktioniert nicht
foreign-lede = Es kam nicht von unseren eigenen Seiten oder ist unvollständig. Es wurde nichts geändert. Beginnen Sie auf der ersten Seite.
gone-title = Das gibt es hier nicht mehr
gone-heading = Das gibt es hier nicht mehr
gone-lede = Etiketten werden nach 90 Tagen gelöscht. An Ihrer Rücksendung hat sich nichts geändert.
trouble-title = Bei uns ist etwas schiefgegangen
trouble-heading = Bei uns ist etwas schiefgegangen
trouble-lede = Es liegt nicht an Ihnen. Ihre Angaben bleiben erhalten, und nichts wurde doppelt abgeschickt.
trouble-again = Noch einmal versuchen
trouble-mention = Wenn Sie uns schreiben, nennen Sie diese Nummer:
busy-title = Zu viele Versuche
busy-heading = Machen wir eine kurze Pause
busy-lede = Von hier kamen zu viele Versuche. So schützen wir Ihre Bestellungen vor Leuten, die raten.
busy-until = Ab dem { $time } können Sie es wieder versuchen.
over-title = Sie waren eine Weile weg
over-heading = Sie waren eine Weile weg
over-lede = Nach 30 Minuten schließen wir Ihre Bestellung, damit niemand sonst sie auf diesem Gerät sehen kann. Es wurde nichts abgeschickt.
over-kept = Rufen Sie Ihre Bestellung noch einmal auf und machen Sie weiter, wo Sie waren. Ihre Auswahl haben wir behalten.
over-go-on = Weitermachen

## The page of a link in a mail about a return

return-link-title = Ihre Rücksendung öffnen
return-link-heading = Ihre Rücksendung öffnen
return-link-lede = Dieser Link zeigt die Rücksendung { $rma } und sonst nichts. Tippen Sie auf „Weiter“, um sie zu öffnen.
return-link-why-answer = Manche Mailprogramme öffnen jeden Link, um ihn zu prüfen. Mit diesem Schritt öffnen nur Sie Ihre Rücksendung.
return-link-device-answer = Nach 30 Minuten ohne Eingabe schließen wir Ihre Rücksendung. Schließen Sie auf einem gemeinsam genutzten Gerät das Fenster, wenn Sie fertig sind.
return-link-over-title = Dieser Link gilt nicht mehr
return-link-over-heading = Dieser Link gilt nicht mehr
return-link-over-lede = Ein Link in unseren E-Mails gilt 90 Tage. An Ihrer Rücksendung hat sich nichts geändert: Sie finden sie mit Ihrer Bestellnummer.
shop-link-over-title = Dieser Link gilt nicht mehr
shop-link-over-heading = Dieser Link gilt nicht mehr
shop-link-over-lede = Ein Link aus dem Shop gilt einmal und nur zehn Minuten lang. Gehen Sie zurück in den Shop und versuchen Sie es noch einmal, oder finden Sie Ihre Bestellung mit der Bestellnummer.
one-return-title = Finden Sie zuerst Ihre Bestellung
one-return-heading = Finden Sie zuerst Ihre Bestellung
one-return-lede = Der Link in Ihrer E-Mail zeigt eine einzelne Rücksendung. Die ganze Bestellung finden Sie mit der Bestellnummer.

## Mails
## Every text may use: shop, name, rma, order, method (mail-back, express-returns or customer-keep), units, date and moment (of the news),
## weekday, day and days (until the goods must be handed over), what (goods, card or both), new_order, refunded, to_come, fee.

mail-hello = Guten Tag, { $name }!
mail-hello-nobody = Guten Tag!
mail-code = Ihre Rücksendenummer
mail-code-over = { $rma }. Diese Nummer gilt nicht mehr. Verschicken Sie damit nichts mehr.
mail-goods = { $units ->
    [one] Der Artikel
   *[other] Die Artikel
}
mail-until = { $method ->
    [express-returns] Abgeben bis
   *[mail-back] Verschicken bis
}
mail-until-day = { $weekday }
mail-tracking-number = Paketnummer
mail-estimated = Voraussichtliche Erstattung
mail-to-come = Noch offen
mail-amount-refunded = { $refunded }
mail-amount-to-come = Etwa { $to_come }, über die ursprüngliche Zahlungsart
mail-amount-after-fee = Etwa { $to_come }, über die ursprüngliche Zahlungsart. Die Gebühr von { $fee } ist abgezogen.
mail-questions-answer = Fragen? Antworten Sie auf diese E-Mail.
mail-questions-shop = Fragen? Wenden Sie sich an { $shop }.
mail-why = Sie erhalten diese E-Mail wegen der Rücksendung { $rma } zur Bestellung { $order }.
mail-why-gift = Sie erhalten diese E-Mail wegen der Rücksendung { $rma }.
mail-why-link = Sie erhalten diese E-Mail, weil jemand Ihre Adresse auf den Rücksendeseiten von { $shop } eingegeben hat.
mail-no-advertising = Das ist keine Werbung, deshalb gibt es nichts abzubestellen. Kein Tracking in dieser E-Mail.

mail-confirmed-subject = { $method ->
    [express-returns] Ihre Rücksendung ist bestätigt: Abgabe bis zum { $day }
    [customer-keep] Ihre Rücksendung ist bestätigt
   *[mail-back] Ihre Rücksendung ist bestätigt: Versand bis zum { $day }
}
mail-confirmed-subject-open = Ihre Rücksendung ist bestätigt
mail-confirmed-preview = Was zurückgeht und wie es weitergeht.
mail-confirmed-heading = Ihre Rücksendung ist bestätigt
mail-confirmed-lede = { $method ->
    [express-returns] { $units ->
        [one] Vielen Dank. Für die Abgabe des Artikels haben Sie Zeit bis { $weekday }.
       *[other] Vielen Dank. Für die Abgabe aller { $units } Artikel haben Sie Zeit bis { $weekday }.
    }
    [customer-keep] Vielen Dank. Sie müssen nichts zurücksenden.
   *[mail-back] { $units ->
        [one] Vielen Dank. Für den Rückversand des Artikels haben Sie Zeit bis { $weekday }.
       *[other] Vielen Dank. Für den Rückversand aller { $units } Artikel haben Sie Zeit bis { $weekday }.
    }
}
mail-confirmed-lede-open = { $method ->
    [express-returns] { $units ->
        [one] Vielen Dank. Geben Sie den Artikel ab, wenn es Ihnen passt.
       *[other] Vielen Dank. Geben Sie alle { $units } Artikel ab, wenn es Ihnen passt.
    }
    [customer-keep] Vielen Dank. Sie müssen nichts zurücksenden.
   *[mail-back] { $units ->
        [one] Vielen Dank. Senden Sie den Artikel zurück, wenn es Ihnen passt.
       *[other] Vielen Dank. Senden Sie alle { $units } Artikel zurück, wenn es Ihnen passt.
    }
}
mail-confirmed-button = Meine Rücksendung öffnen
mail-confirmed-label = { $method ->
    [express-returns] Öffnen Sie Ihre Rücksendung, um Ihren Code zu sehen. Wenn es länger als zehn Minuten dauert, schreiben wir Ihnen noch einmal.
   *[mail-back] Öffnen Sie Ihre Rücksendung, um das Etikett zu bekommen. Wenn es länger als zehn Minuten dauert, schreiben wir Ihnen noch einmal.
}
mail-confirmed-label-unlinked = { $method ->
    [express-returns] Warten Sie auf Ihren Code. Wir schreiben Ihnen noch einmal, wenn er da ist.
   *[mail-back] Warten Sie auf Ihr Etikett. Wir schreiben Ihnen noch einmal, wenn es da ist.
}
mail-confirmed-label-of-shop = Der Shop erstellt Ihr Etikett. Sobald es da ist, finden Sie es in Ihrer Rücksendung.
mail-confirmed-send = { $method ->
    [express-returns] Bringen Sie alles zu einer Abgabestelle. Ein Karton ist nicht nötig.
   *[mail-back] Packen Sie alles in einen Karton, kleben Sie das Etikett auf und verschicken Sie das Paket. Heben Sie den Beleg auf.
}
mail-confirmed-exchange = { $what ->
    [card] Wir bestellen jetzt Ihren Gutschein. Sie hören von uns, wenn er bestellt ist.
    [both] Wir bestellen jetzt den neuen Artikel und Ihren Gutschein. Sie hören von uns, wenn beides bestellt ist.
   *[goods] Wir bestellen jetzt den neuen Artikel. Sie hören von uns, wenn er bestellt ist.
}
mail-confirmed-refund = { $method ->
    [customer-keep] Sie bekommen Ihre Erstattung und eine E-Mail, sobald sie auf dem Weg zu Ihnen ist.
   *[other] Sobald die Ware bei uns ist, bekommen Sie Ihre Erstattung und eine E-Mail dazu.
}

mail-label-ready-subject = { $method ->
    [express-returns] Ihr Code für die Abgabe ist da
   *[mail-back] Ihr Rücksendeetikett ist da
}
mail-label-ready-preview = { $method ->
    [express-returns] Zeigen Sie ihn an einer Abgabestelle.
   *[mail-back] Ausdrucken, aufkleben, verschicken.
}
mail-label-ready-heading = { $method ->
    [express-returns] Ihr Code ist da
   *[mail-back] Ihr Etikett ist da
}
mail-label-ready-lede = { $method ->
    [express-returns] Der Code für Ihre Rücksendung ist jetzt da. Zeigen Sie ihn an einer Abgabestelle; ein Karton ist nicht nötig.
   *[mail-back] Das Etikett für Ihre Rücksendung ist jetzt da. Darauf steht eine Adresse, deshalb fragt die Seite zuerst nach der Postleitzahl.
}
mail-label-ready-button = { $method ->
    [express-returns] Meinen Code zeigen
   *[mail-back] Etikett öffnen
}
mail-label-ready-steps = So verschicken Sie es
mail-label-ready-box = Packen Sie alles in einen Karton.
mail-label-ready-stick = Kleben Sie das Etikett auf. Überkleben Sie alte Etiketten.
mail-label-ready-keep = Heben Sie den Beleg auf, bis Ihre Erstattung da ist.

mail-on-its-way-subject = Ihre Rücksendung ist unterwegs
mail-on-its-way-preview = Sie müssen nichts weiter tun.
mail-on-its-way-heading = Ihre Rücksendung ist unterwegs
mail-on-its-way-lede = Ihre Rücksendung ist seit dem { $date } beim Versanddienst. Sie müssen nichts weiter tun.
mail-on-its-way-button = Meine Rücksendung verfolgen

mail-reminder-subject = { $method ->
    [express-returns] { $days ->
        [one] Noch ein Tag, um Ihre Rücksendung abzugeben
       *[other] Noch { $days } Tage, um Ihre Rücksendung abzugeben
    }
   *[mail-back] { $days ->
        [one] Noch ein Tag, um Ihre Rücksendung zu verschicken
       *[other] Noch { $days } Tage, um Ihre Rücksendung zu verschicken
    }
}
mail-reminder-preview = Sie ist noch nicht beim Versanddienst.
mail-reminder-heading = { $method ->
    [express-returns] { $days ->
        [one] Noch ein Tag für die Abgabe
       *[other] Noch { $days } Tage für die Abgabe
    }
   *[mail-back] { $days ->
        [one] Noch ein Tag für den Versand
       *[other] Noch { $days } Tage für den Versand
    }
}
mail-reminder-lede = Wir haben von Ihrer Rücksendung noch nichts gesehen. Sie haben Zeit bis { $weekday }. Danach wird die Rücksendung geschlossen, und es wird nichts erstattet.
mail-reminder-button = Meine Rücksendung öffnen
mail-reminder-sent = { $method ->
    [express-returns] Schon abgegeben? Dann können Sie diese E-Mail ignorieren. Es kann zwei Tage dauern, bis wir es sehen.
   *[mail-back] Schon verschickt? Dann können Sie diese E-Mail ignorieren. Es kann zwei Tage dauern, bis wir es sehen.
}
mail-reminder-keep = Möchten Sie es lieber behalten? Dann müssen Sie nichts tun. Das ist die einzige Erinnerung.

mail-refunded-subject = Wir haben { $refunded } erstattet
mail-refunded-subject-gift = Ihre Rücksendung ist abgeschlossen
mail-refunded-preview = Bis Ihre Bank es anzeigt, kann es ein paar Tage dauern.
mail-refunded-heading = Wir haben { $refunded } erstattet
mail-refunded-heading-gift = Ihre Rücksendung ist abgeschlossen
mail-refunded-lede = Wir haben das Geld über die ursprüngliche Zahlungsart erstattet. Bis Ihre Bank es anzeigt, kann es ein paar Tage dauern.
mail-refunded-lede-gift = { $shop } hat Ihre Rücksendung abgeschlossen. Sie bekommen einen Gutschein per E-Mail.
mail-refunded-row = Erstattet
mail-refunded-button = Meine Rücksendung ansehen

mail-cancelled-subject = Ihre Rücksendung ist storniert
mail-cancelled-preview = Verschicken Sie damit nichts mehr.
mail-cancelled-heading = Ihre Rücksendung ist storniert
mail-cancelled-lede = { $units ->
    [one] Diese Rücksendung wurde am { $moment } storniert. Sie behalten den Artikel, und es wurde nichts berechnet.
   *[other] Diese Rücksendung wurde am { $moment } storniert. Sie behalten die Artikel, und es wurde nichts berechnet.
}
mail-cancelled-lede-by-shopper = { $units ->
    [one] Sie haben diese Rücksendung am { $moment } storniert. Sie behalten den Artikel, und es wurde nichts berechnet.
   *[other] Sie haben diese Rücksendung am { $moment } storniert. Sie behalten die Artikel, und es wurde nichts berechnet.
}
mail-cancelled-button = Meine Rücksendung ansehen
mail-cancelled-not-you = Das waren nicht Sie? Antworten Sie auf diese E-Mail.

mail-expired-subject = Ihre Rücksendung ist abgelaufen
mail-expired-preview = Es ist nichts rechtzeitig bei uns angekommen.
mail-expired-heading = Ihre Rücksendung ist abgelaufen
mail-expired-lede = Sie hatten Zeit bis { $weekday }. Bis dahin ist nichts bei uns angekommen, deshalb haben wir die Rücksendung geschlossen. Es wurde nichts berechnet, und es wird nichts erstattet.
mail-expired-steps = Was Sie tun können
mail-expired-sent = Schon verschickt? Schreiben Sie mit dem Beleg an { $shop }, damit dort nach dem Paket gesucht wird.
mail-expired-again = Möchten Sie es noch zurückgeben? Sehen Sie im Rücksendeportal nach, ob das noch möglich ist.
mail-expired-happy = Sind Sie damit zufrieden? Dann müssen Sie nichts tun.
mail-expired-button = Meine Rücksendung ansehen

mail-exchange-placed-subject = { $what ->
    [card] Wir haben Ihren Gutschein bestellt
    [both] Wir haben Ihren neuen Artikel und Ihren Gutschein bestellt
   *[goods] Wir haben Ihren neuen Artikel bestellt
}
mail-exchange-placed-preview = Sie müssen nichts bezahlen.
mail-exchange-placed-heading = { $what ->
    [card] Wir haben Ihren Gutschein bestellt
    [both] Wir haben Ihren neuen Artikel und Ihren Gutschein bestellt
   *[goods] Wir haben Ihren neuen Artikel bestellt
}
mail-exchange-placed-lede = Sie müssen nichts bezahlen.
mail-exchange-placed-order = Die Nummer der neuen Bestellung ist { $new_order }.
mail-exchange-placed-old = { $method ->
    [express-returns] Noch zu tun: Geben Sie ab, was zurückgeht. Wenn Sie das schon getan haben, müssen Sie nichts weiter tun.
   *[mail-back] Noch zu tun: Verschicken Sie, was zurückgeht. Wenn Sie das schon getan haben, müssen Sie nichts weiter tun.
}
mail-exchange-placed-button = Meine Rücksendung ansehen

mail-exchange-sold-out-subject = Ausverkauft: Sie bekommen stattdessen eine Erstattung
mail-exchange-sold-out-preview = Aus Ihrem Umtausch wird eine Erstattung.
mail-exchange-sold-out-heading = Ausverkauft. Sie bekommen stattdessen eine Erstattung
mail-exchange-sold-out-lede = Es tut uns leid: Was Sie gewählt hatten, konnte nicht mehr bestellt werden. Statt des Umtauschs bekommen Sie eine Erstattung.
mail-exchange-sold-out-button = Meine Rücksendung ansehen
mail-exchange-sold-out-keep = Möchten Sie lieber behalten, was Sie haben? Bis zur Abgabe können Sie die Rücksendung stornieren.

mail-sign-in-link-subject = Ihr Link zu Ihren Bestellungen und Rücksendungen
mail-sign-in-link-preview = Er gilt einmal und eine Stunde lang.
mail-sign-in-link-heading = Ihre Bestellungen und Rücksendungen öffnen
mail-sign-in-link-lede = Hier ist der Link, den Sie angefordert haben. Er gilt einmal und eine Stunde lang.
mail-sign-in-link-button = Meine Bestellungen und Rücksendungen öffnen
mail-sign-in-link-continue = Tippen Sie auf der Seite auf „Weiter“. Erst dann ist der Link verbraucht.
mail-sign-in-link-unasked = Sie haben keinen Link angefordert? Dann können Sie diese E-Mail einfach ignorieren. Ohne den Link sieht niemand Ihre Bestellungen; geben Sie ihn also nicht weiter.

## Withdrawing from a contract
# Legal wording, all of this part: for review by counsel.

withdraw-link = Vertrag hier widerrufen
withdraw-link-note = Für Bestellungen aus der EU, innerhalb von 14 Tagen, ohne Angabe von Gründen.
withdraw-title = Vertrag widerrufen
withdraw-heading = Vertrag widerrufen
withdraw-lede = Sie müssen keinen Grund angeben. Auf der nächsten Seite prüfen Sie alles, bevor es gilt.
withdraw-name = Ihr Name
withdraw-name-missing = Geben Sie Ihren Namen ein
withdraw-order-hint = Oder was Sie wann bestellt haben, falls Sie sie nicht finden.
withdraw-order-missing = Geben Sie die Bestellnummer ein, oder was Sie wann bestellt haben
withdraw-email = E-Mail
withdraw-email-hint = Hierhin schicken wir die Eingangsbestätigung.
withdraw-what = Was widerrufen Sie?
withdraw-all = Die ganze Bestellung
withdraw-all-of = Die ganze Bestellung: { $goods }
withdraw-some = Einige Artikel
withdraw-late = Vor mehr als 14 Tagen geliefert? Senden Sie es trotzdem ab, wir prüfen es.
withdraw-late-return = Oder beginnen Sie eine normale Rücksendung.
withdraw-side-heading = Widerruf oder Rücksendung?
withdraw-side-right = <b>Der Widerruf</b> ist in der EU Ihr gesetzliches Recht. Er löst den Vertrag ganz oder zum Teil auf, ohne Angabe von Gründen, innerhalb von 14 Tagen nach der Lieferung.
withdraw-side-offer = <b>Die Rücksendung</b> ist unser eigenes Angebot. Sie haben { $days } Tage ab Versand und können vielleicht umtauschen.
withdraw-side-both = In beiden Fällen schicken Sie die Artikel zurück, und wir erstatten Ihnen das Geld.
withdraw-goods-title = Welche Artikel?
withdraw-goods-heading = Welche Artikel widerrufen Sie?
withdraw-goods-lede = Auf der nächsten Seite prüfen Sie alles, bevor es gilt.
withdraw-goods-none = Wählen Sie mindestens einen Artikel oder die ganze Bestellung
withdraw-goods-all = Die ganze Bestellung wählen
withdraw-goods-words = Die Artikel
withdraw-goods-words-hint = In Ihren eigenen Worten.
withdraw-goods-missing = Schreiben Sie, welche Artikel Sie widerrufen
withdraw-exempt-heading = Hier ist kein Widerruf möglich
withdraw-exempt-made_to_order = Dieser Artikel wurde für Sie angefertigt.
withdraw-exempt-perishable = Dieser Artikel verdirbt oder läuft schnell ab.
withdraw-exempt-hygiene = Dieser Artikel war aus Gründen der Gesundheit oder Hygiene versiegelt und kann geöffnet nicht zurück.
withdraw-exempt-mixed = Dieser Artikel wird nach der Lieferung mit anderen vermischt.
withdraw-exempt-alcohol = Der Preis wurde lange vor der Lieferung vereinbart und hängt vom Markt ab.
withdraw-exempt-recording = Dies ist eine versiegelte Aufnahme oder Software und kann geöffnet nicht zurück.
withdraw-exempt-press = Dies ist eine Zeitung oder Zeitschrift.
withdraw-exempt-no_consumers = Dieser Shop verkauft nur an Unternehmen.
withdraw-exempt-no_country = Dieser Shop verkauft nicht in die EU.
withdraw-confirm-title = Widerruf bestätigen
withdraw-confirm-heading = Bestätigen Sie Ihren Widerruf
withdraw-confirm-lede = Das ist Ihre Erklärung. Sie gilt ab dem Moment, in dem Sie bestätigen.
withdraw-statement-heading = Widerrufserklärung
withdraw-statement = An { $shop }: Ich widerrufe meinen Vertrag über den Kauf der Waren in der unten genannten Bestellung.
withdraw-name-label = Name
withdraw-order-label = Bestellung
withdraw-goods-label = Waren
withdraw-ordered = Bestellt am
withdraw-email-label = E-Mail für die Eingangsbestätigung
withdraw-change = Erklärung ändern
withdraw-confirm = Widerruf bestätigen
withdraw-done-title = Widerruf eingegangen
withdraw-done-heading = Ihr Widerruf ist eingegangen
withdraw-done-lede = Die Eingangsbestätigung ist unterwegs an <b>{ $email }</b>. Bitte bewahren Sie sie auf.
withdraw-unknown-lede = Wir konnten keine Bestellung dazu finden. Der Widerruf gilt trotzdem ab jetzt, wenn er rechtzeitig ist. Die Eingangsbestätigung ist unterwegs an <b>{ $email }</b>.
withdraw-receipt = Eingangsbestätigung
withdraw-received = Eingegangen
withdraw-reference = Aktenzeichen
withdraw-period = Rechtzeitig
withdraw-in-time = Ja. Ihre 14 Tage enden am { $day }.
withdraw-in-time-open = Ja. Ihre 14 Tage beginnen, wenn alles angekommen ist.
withdraw-late-since = Ihre 14 Tage endeten am { $day }. Der Shop prüft es und schreibt Ihnen.
withdraw-next-send = Schicken Sie die Artikel bis zum <b>{ $day }</b> zurück.
withdraw-next-refund = Sie bekommen Ihr Geld bis zum { $day }, oder sobald der Shop die Artikel oder Ihren Versandnachweis hat.
withdraw-next-refund-unsent = Sie bekommen Ihr Geld bis zum { $day }.
withdraw-next-gift = Die Bestellung war ein Geschenk, deshalb haben Sie die Artikel vielleicht nicht. Der Shop schreibt Ihnen, was mit ihnen und mit Ihrem Geld geschieht.
withdraw-send = Rückweg wählen
withdraw-other = Etwas anderes zurückschicken
withdraw-person = Jemand sucht Ihre Bestellung und schreibt an <b>{ $email }</b>. Sie müssen nichts noch einmal schicken.
withdraw-find = Bestellung selbst suchen
statement-title = Ihr Widerruf
statement-heading = Ihr Widerruf
statement-lede = Das ist die Erklärung, deren Eingang wir per E-Mail bestätigt haben, Wort für Wort.
statement-onward-heading = Weiter mit Ihrer Bestellung
statement-onward-note = Um Artikel zurückzuschicken oder zu sehen, wo sie sind, finden Sie Ihre Bestellung mit der Nummer und Ihrer E-Mail oder Postleitzahl. Diese Seite zeigt nichts davon.
statement-onward = Zu meiner Bestellung
statement-link-over-title = Dieser Link funktioniert nicht mehr
statement-link-over-heading = Dieser Link funktioniert nicht mehr
statement-link-over-lede = Ein Link in unseren E-Mails gilt 90 Tage lang. Ihr Widerruf gilt unabhängig davon: Sein genauer Inhalt steht in der E-Mail.

## The acknowledgement of a withdrawal
# Legal wording: for review by counsel.

mail-withdrawal-subject = Ihr Widerruf ist eingegangen, { $moment }
mail-withdrawal-preview = Bitte bewahren Sie diese E-Mail auf.
mail-withdrawal-heading = Ihr Widerruf ist eingegangen
mail-withdrawal-lede = Hiermit bestätigen wir, dass Ihr Widerruf des Vertrags eingegangen ist. Bitte bewahren Sie diese E-Mail auf.
mail-withdrawal-send = Schicken Sie die Artikel bis zum { $day } zurück.
mail-withdrawal-send-linked = Schicken Sie die Artikel bis zum { $day } zurück. Öffnen Sie unten Ihren Widerruf, um den Rückweg zu wählen.
mail-withdrawal-refund = Sie bekommen Ihr Geld innerhalb von 14 Tagen, oder sobald der Shop die Artikel oder Ihren Versandnachweis hat.
mail-withdrawal-refund-unsent = Sie bekommen Ihr Geld innerhalb von 14 Tagen.
mail-withdrawal-gift = Die Bestellung war ein Geschenk, deshalb haben Sie die Artikel vielleicht nicht. Der Shop schreibt Ihnen, was mit ihnen und mit Ihrem Geld geschieht.
mail-withdrawal-person = Wir konnten keine Bestellung zu Ihrer Erklärung finden. Sie gilt trotzdem ab jetzt, wenn sie rechtzeitig ist. Jemand sucht Ihre Bestellung und schreibt Ihnen.
mail-withdrawal-button = Meinen Widerruf öffnen
mail-why-withdrawal = Sie bekommen diese E-Mail wegen des Widerrufs { $reference } bei { $shop }.
