# Français. Words between < and > are markup; values in { } are filled in. The spaces before : ; ? ! do not break.

## Every page

language-name = Français
error-title = Erreur :
error-label = Erreur :
returns = Retours
skip = Aller au contenu principal
back = Retour
continue = Continuer
language = Langue :
brand-label = Retours { $shop }, accueil
support-notice = <bdi>{ $name }</bdi> agit au nom du client.
help-heading = Besoin d’aide ?
help-write = Écrivez à
help-call = Appelez le
link-shop = Retour à { $shop }
link-privacy = Confidentialité
link-terms = Conditions
write-to-us = Écrivez-nous.
start-again = Commencer un retour
# Legal wording: for review by counsel.
cookie-note = Nous utilisons un cookie pour vous permettre de continuer pendant 30 minutes, un autre le temps d’une rétractation, et un autre si vous choisissez une langue. Aucun suivi, aucune publicité. Les retours de { $shop } sont gérés par Backhaul.
faults-heading = Il y a un problème
money = { $amount } { $symbol }
less = −{ $amount }
step = Étape { $step } sur 5
step-item = Étape { $step } sur 5 · article { $item } sur { $items }
return-by = À retourner jusqu’au
return-by-within = à retourner jusqu’au
by-day = Jusqu’au { $day }
units-of = { $units } sur { $quantity }
units = { $units ->
    [one] { $units } article
   *[other] { $units } articles
}
price-each = l’unité
free = Gratuit

## Finding the order

find-title = Trouver votre commande
find-heading = Retourner ou échanger un article
find-lede = Commençons par trouver votre commande. Pas besoin de compte.
find-number = Numéro de commande
find-number-hint = Il figure dans votre e-mail de confirmation.
find-key = E-mail ou code postal
find-key-hint = Ceux de cette commande. L’un des deux suffit.
find-button = Trouver ma commande
find-number-missing = Saisissez votre numéro de commande
find-key-missing = Saisissez l’e-mail ou le code postal de la commande
find-miss-heading = Nous ne trouvons pas cette commande
find-miss = Vérifiez le numéro de commande ainsi que l’e-mail ou le code postal
find-miss-note = Les deux doivent correspondre à la même commande. Essayez de :
find-miss-copy = copier le numéro depuis l’e-mail de confirmation
find-miss-postcode = saisir le code postal au lieu de l’e-mail
find-miss-wait = patienter quelques minutes si vous venez de commander
find-elsewhere = Acheté ailleurs ?
find-elsewhere-answer = Nous reprenons uniquement ce qui a été commandé chez { $shop }. Pour le reste, adressez-vous au magasin où vous l’avez acheté.

lost-link = Vous n’avez pas le numéro ? Recevez un lien par e-mail

## A link by e-mail

lost-title = Recevoir un lien par e-mail
lost-heading = Recevoir un lien par e-mail
lost-lede = Nous vous envoyons un lien qui ouvre vos commandes et vos retours. Aucun numéro de commande nécessaire.
lost-email = E-mail de la commande
lost-wrong = Saisissez une adresse e-mail, par exemple nom@example.com
lost-send = M’envoyer un lien
lost-number = Utiliser plutôt le numéro de commande
sent-title = Consultez vos e-mails
sent-heading = Consultez vos e-mails
sent-lede = Si nous avons des commandes pour <b>{ $email }</b>, vous allez recevoir un lien. Il fonctionne une seule fois, pendant une heure.
sent-nothing = Toujours rien après cinq minutes ?
sent-spam = Regardez dans les indésirables ou les promotions.
sent-other = Vous avez commandé avec un autre e-mail ?
sent-other-try = Essayez avec celui-ci.
sent-number = Vous avez le numéro de commande ?
sent-number-find = Retrouvez la commande avec celui-ci.
link-title = Ouvrir vos commandes et vos retours
link-heading = Ouvrir vos commandes et vos retours
link-lede = Votre lien fonctionne une seule fois. Il n’est utilisé que lorsque vous appuyez sur « Continuer ».
link-why = Pourquoi cette étape de plus ?
link-why-answer = Certaines messageries ouvrent chaque lien pour le vérifier. Grâce à cette étape, le vôtre n’est utilisé que lorsque vous cliquez.
link-device = Ce n’est pas votre appareil ?
link-device-answer = Nous fermons vos commandes après 30 minutes d’inactivité. Sur un appareil partagé, fermez la fenêtre quand vous avez terminé.
used-title = Ce lien ne fonctionne plus
used-heading = Ce lien ne fonctionne plus
used-lede = Un lien fonctionne une seule fois, pendant une heure. Celui-ci a déjà servi ou a expiré. Vos retours n’ont pas changé.
used-hint = Nous vous envoyons un nouveau lien.
used-send = M’envoyer un nouveau lien
used-latest = Vous avez demandé plusieurs liens ? Utilisez celui du dernier e-mail.
orders-title = Vos commandes
orders-heading = De quelle commande s’agit-il ?
orders-open = Continuer avec cette commande

## The promises beside the first pages

promises = Les retours chez { $shop }
promise-window = <b>{ $days } jours pour vous décider.</b> À compter du jour de l’expédition.
promise-express = <b>Ni imprimante, ni carton.</b> Montrez un code dans un point de dépôt.
promise-exchange = <b>Une autre taille ?</b> Échangez sans frais supplémentaires.

## Choosing

items-title = Choisir les articles
items-heading = Que souhaitez-vous retourner ?
items-lede = Cochez ce que vous retournez. Les prix sont ceux que vous avez payés, remises déduites.
items-gift-lede = C’était un cadeau, vous ne voyez donc pas de prix. Ce que vous recevez est pour vous, et nous n’en dirons rien à la personne qui l’a acheté.
items-how-many = Combien en retournez-vous ?
items-none = Cochez au moins un article
items-partly = Vous pouvez en retourner { $units } sur { $quantity }. { $why }
items-cannot = Ces articles ne peuvent pas être retournés
items-damaged = Abîmé ou non conforme à votre commande ? C’est un cas à part.
items-nothing-title = Aucun article ne peut être retourné
items-nothing = Aucun article de cette commande ne peut être retourné
items-more = Ce que vous pouvez encore faire
items-other = Une autre commande ?
items-other-find = Trouvez-la ici.
giftee-label = Votre e-mail
giftee-hint = La carte cadeau arrivera ici. Nous ne le communiquons pas à la personne qui a fait le cadeau.
giftee-missing = Saisissez votre e-mail, par exemple nom@example.com
order-heading = Commande { $order }
order-placed = Commandé le
order-shipped = Expédié le

held-order_cancelled = La commande a été annulée.
held-cancelled = Annulé avant l’expédition.
held-not_shipped = Pas encore expédié. Revenez quand vous l’aurez reçu.
held-refunded = Déjà remboursé.
held-in_return = Déjà dans un autre retour.
# Legal wording: for review by counsel.
held-final_sale = Vente ferme, sans retour. C’était indiqué lors de l’achat.
held-gift = Cet article ne peut pas être retourné ici. Écrivez-nous, nous regarderons ensemble.
# Legal wording: for review by counsel.
held-gift_card = Les cartes cadeaux ne peuvent pas être retournées.
held-pickup_in_store = Retiré en magasin. Rapportez-le là-bas.
held-third_party = Vendu par une autre entreprise. Adressez-lui votre demande de retour.
# Legal wording: for review by counsel.
held-window_over = Le délai de retour est écoulé.
# Legal wording: for review by counsel.
held-window_over-on = Le délai de retour a pris fin le { $day }.

## Why

reason-title = Pourquoi ce retour ?
reason-heading = Pourquoi ce retour ?
reason-lede = Cela nous aide à vous proposer la bonne solution. Rien ne vous y oblige.
reason-legend = Pourquoi retournez-vous { $title } ?
reason-TOO_SMALL = Trop petit
reason-TOO_LARGE = Trop grand
reason-CHANGED_MIND = J’ai changé d’avis
reason-NOT_AS_DESCRIBED = Non conforme à la description
reason-DAMAGED = Abîmé ou défectueux
reason-WRONG_ITEM = Ce n’est pas ce que j’ai commandé
reason-NOT_GIVEN = Je préfère ne pas répondre

## What instead

draft-heading = Votre retour

instead-title = Que souhaitez-vous à la place ?
instead-heading = Que souhaitez-vous à la place ?
instead-legend = Que souhaitez-vous à la place de { $title } ?
instead-exchange = Une autre taille ou couleur
instead-exchanged = Échange
instead-kept = Vous le gardez
instead-exchange-note = Nous le commandons dès votre confirmation. Inutile d’attendre que l’ancien nous parvienne.
instead-exchange-slow = Nous ne voyons pas ce qui est en stock pour le moment. Vos réponses sont enregistrées : réessayez dans une minute.
instead-exchange-sold-out = Épuisé
instead-exchange-none = Tout ce que nous pourrions vous proposer en échange est épuisé.
instead-again = Réessayer
instead-refund = Remboursement
instead-refund-note = Sur le moyen de paiement utilisé, après réception de l’article.
instead-gift-card = Carte cadeau
instead-gift-card-note = Par e-mail.
instead-gift-note = Par e-mail, dès réception. Vous verrez le montant en la recevant.
instead-gift-card-bonus = { $worth } pour votre retour et <b>{ $bonus } en plus</b> de notre part. Par e-mail.
instead-once = Une commande ne peut être échangée qu’une fois. Faites maintenant tous les échanges de cette commande.
instead-none = Choisissez ce que vous souhaitez à la place

exchange-title = Lequel souhaitez-vous ?
exchange-heading = Lequel souhaitez-vous ?
exchange-variant = Modèle
exchange-note = Même prix, rien à payer. Nous le commandons dès votre confirmation.
exchange-other = Je ne trouve pas le mien
exchange-none = Choisissez un modèle
exchange-gone = Ce modèle vient d’être épuisé. Choisissez-en un autre
sold-out = épuisé
in-stock = en stock
left = plus que { $left }

## How

how-title = Comment souhaitez-vous le retourner ?
how-heading = Comment souhaitez-vous le retourner ?
how-keep-heading = Le retourner ou le garder ?
how-lede-fee = Tout part ensemble. Les frais éventuels sont déduits de votre remboursement : vous ne payez rien maintenant.
how-express-returns = Le déposer dans un point de dépôt
how-express-returns-note = Montrez un code sur place. L’emballage et l’étiquette sont faits pour vous.
how-mail-back = L’envoyer avec une étiquette
how-mail-back-note = Mettez tout dans un carton, collez l’étiquette et remettez-le au transporteur.
how-customer-keep = Le garder
how-customer-keep-note = Utilisez-le, offrez-le ou recyclez-le. Vous recevez quand même votre remboursement.
how-none = Choisissez comment le retourner
fact-no-printer = Sans imprimante
fact-no-box = Sans carton
fact-printer = Imprimante nécessaire
fact-box = Carton nécessaire
fact-nothing = Rien à envoyer

## Check and confirm

check-title = Vérifiez avant de confirmer
check-heading = Vérifiez avant de confirmer
check-reason = Motif
check-instead = À la place
check-change = Modifier
check-change-reason = le motif pour
check-change-instead = ce que vous recevez pour
check-change-way = le mode de retour
check-exchange = Échange contre { $variant }
check-refund = Remboursement sur le moyen de paiement utilisé
check-gift = Carte cadeau de la valeur de l’article
check-gift-lede = Nous ne dirons rien de ce retour à la personne qui l’a acheté.
check-gift-amount = Une carte cadeau de la valeur des articles. Vous verrez le montant en la recevant.
check-giftee = Envoyée à
check-change-giftee = votre e-mail
check-way = Mode de retour
check-fee = Frais
check-new-goes = Le nouvel article sera envoyé
check-new-address = à l’adresse de la commande
check-bill = Votre remboursement
check-gets = Ce que vous recevez
check-estimate = C’est une estimation, jusqu’à ce que nous ayons examiné les articles.
check-until = Vous pourrez ensuite remettre votre colis jusqu’au
check-confirm = Confirmer le retour
check-confirming = Confirmation en cours…
check-items = Modifier les articles
bill-caption = Remboursement estimé, ligne par ligne
bill-units = { $title }, { $units } articles
bill-price = Prix
bill-discount = Remises
bill-tax = Taxes
bill-exchanged = Échangé au même prix
bill-fee = Frais de retour
bill-total = Remboursement estimé
bill-gift-card = Carte cadeau
bill-gift-card-bonus = Carte cadeau, avec { $bonus } en plus

changed-title = Quelque chose a changé
changed-not-started = Nous n’avons pas lancé le retour
changed-heading = Quelque chose a changé
changed-lede = Toutes vos autres réponses restent inchangées.
changed-chose = Votre choix
changed-now = Maintenant
changed-item = { $title } : { $now }
changed-none = Cet article ne peut plus être retourné. { $why }
changed-fewer = Retour encore possible pour { $units } sur { $quantity }. { $why }
changed-sold-out = Il vient d’être épuisé.
changed-slow = Nous ne voyons pas ce qui est en stock pour le moment.
changed-exchanged = Cette commande a déjà été échangée, et ce n’est possible qu’une fois.
changed-no-exchange = Ce n’est plus possible.
changed-exchange = Échange contre { $variant }
changed-see-all = Voir tout ce qui est en stock
changed-way = Le mode de retour choisi n’est plus possible. Choisissez-en un autre à la page suivante.

## Done

done-title = Votre retour est confirmé
done-heading = Votre retour est confirmé
done-show-code = Montrez ceci au comptoir
done-code-alt = Le code QR de votre retour
done-say-code = ou donnez ce code
done-number = Votre numéro de retour
done-parcel = Numéro de colis
done-drop-until = À déposer jusqu’au
done-send-until = À envoyer jusqu’au
done-until = À remettre jusqu’au
done-items = Articles
done-cost-label = Coût
done-cost = { $amount }
done-cost-deducted = { $amount }, déduits de votre remboursement
done-label = Ouvrir l’étiquette (PDF)
done-show = Vérifier à nouveau
done-follow = Suivre ce retour
done-pending-code = Votre code est en préparation.
done-pending-label = Votre étiquette est en préparation.
done-pending-note = Cela prend quelques secondes. Vous pouvez revenir sur cette page à tout moment.
done-unlabelled = Votre étiquette n’est pas encore là.
done-unlabelled-note = La boutique la prépare, puis elle apparaît sur cette page. Revenez plus tard ou écrivez-nous.
done-refused-title = Votre retour est confirmé, sans étiquette
done-refused-heading = Votre retour est confirmé, mais le transporteur ne fournit pas d’étiquette
done-refused-lede = Le transporteur a refusé de fournir une étiquette pour l’adresse de cette commande. Choisissez un autre mode de retour ou écrivez-nous.
done-another = Choisir un autre mode de retour
done-kept-heading = C’est fait. Vous pouvez le garder
done-kept-lede = Il n’y a rien à envoyer.
done-kept-refund = Remboursement sur le moyen de paiement utilisé
next-heading = Et maintenant ?
next-drop-off = Apportez le tout dans un point de dépôt au plus tard le <b>{ $day }</b>. Aucun carton nécessaire.
next-send = Mettez le tout dans un seul carton, collez l’étiquette et envoyez-le au plus tard le <b>{ $day }</b>. Gardez le reçu.
next-drop-off-open = Apportez le tout dans un point de dépôt. Aucun carton nécessaire.
next-send-open = Mettez le tout dans un seul carton, collez l’étiquette et envoyez-le. Gardez le reçu.
next-exchange = { $what ->
    [card] Nous commandons votre carte cadeau <b>maintenant</b>. Elle arrive par e-mail.
    [both] Nous commandons le nouvel article et votre carte cadeau <b>maintenant</b>.
   *[goods] Nous commandons le nouvel article <b>maintenant</b>.
}
next-exchange-placed = { $what ->
    [card] Votre carte cadeau est <b>commandée</b>. Elle arrive par e-mail.
    [both] Le nouvel article et votre carte cadeau sont <b>commandés</b>.
   *[goods] Le nouvel article est <b>commandé</b>.
}
next-refund = { $gift ->
    [yes] Dès réception, nous vous envoyons une <b>carte cadeau</b> par e-mail.
   *[no] Dès réception, nous vous remboursons environ <b>{ $amount }</b>, sur le moyen de paiement utilisé.
}

postcode-title = Saisissez le code postal
postcode-heading = Saisissez le code postal pour voir l’étiquette
postcode-lede = Un nom et une adresse figurent sur l’étiquette. C’est pourquoi nous vérifions d’abord.
postcode = Code postal
postcode-hint = Celui de l’adresse de livraison de la commande.
postcode-show = Afficher l’étiquette
postcode-miss = Vérifiez le code postal
postcode-not-needed = Vous n’avez pas besoin de l’étiquette pour savoir où en est votre retour.

## Where it is

returns-title = Vos retours
returns-heading = { $returns ->
    [one] Vous avez un retour pour cette commande
   *[other] Vous avez { $returns } retours pour cette commande
}
returns-see = Voir ce retour
returns-more = Retourner autre chose
returns-refund = Environ { $amount }, après réception
status-title = Où en est votre retour
status-return = Retour
status-ticket-express-returns = Afficher mon code
status-ticket-mail-back = Afficher l’étiquette
status-again = Commencer un nouveau retour
status-bill = Le détail de votre remboursement
status-help = Obtenir de l’aide pour ce retour
status-mention = et mentionnez
status-cancel = Annuler ce retour
status-too-late = Ce retour ne peut plus être annulé, car il est en route.
status-exchanged = Ce retour ne peut pas être annulé, car ce que vous recevez à la place est déjà commandé.

status-waiting-heading = En attente de votre envoi
status-waiting-drop-heading = En attente de votre dépôt
status-waiting-lede = Vous avez jusqu’au { $day }.
status-sold-out-heading = Épuisé. Vous recevez un remboursement à la place
status-dropped-off-heading = Colis déposé
status-dropped-off-lede = Il sera bientôt en route vers nous.
status-on-its-way-heading = Votre colis est en route vers nous
status-on-its-way-lede = Vous n’avez rien à faire.
status-arrived-heading = Nous avons reçu votre colis
status-arrived-lede = Nous allons maintenant examiner les articles.
status-coming-back-heading = Votre colis revient chez vous
status-coming-back-lede = Le transporteur n’a pas pu nous le livrer. Vous n’y êtes pour rien. Écrivez-nous quand vous l’aurez reçu.
status-trouble-heading = Le transporteur a un problème avec votre colis
status-trouble-lede = Vous n’y êtes pour rien. Nous suivons la situation de près.
status-refunded-heading = Votre retour est terminé
status-refunded-lede = { $gift ->
    [yes] Nous vous avons envoyé ce qui vous revient.
   *[no] Nous avons remboursé { $amount }, sur le moyen de paiement utilisé.
}
status-partly-heading = Nous avons remboursé une partie
status-partly-lede = { $gift ->
    [yes] Nous vous en avons envoyé une partie.
   *[no] Jusqu’ici : { $amount }, sur le moyen de paiement utilisé.
}
status-kept-heading = Vous pouvez le garder
status-kept-lede = { $gift ->
    [yes] Vous recevez une carte cadeau par e-mail.
   *[no] Vous recevez un remboursement de { $amount }, sur le moyen de paiement utilisé.
}
status-cancelled-heading = Ce retour est annulé
status-cancelled-lede = Vous gardez les articles. Son code ne fonctionne plus.
status-expired-heading = Ce retour a expiré
status-expired-lede = Nous n’avons pas reçu les articles à temps, le retour a donc été clôturé.

chip-waiting = En attente de remise
chip-dropped-off = Déposé
chip-on-its-way = En route vers nous
chip-arrived = Reçu
chip-coming-back = Revient chez vous
chip-trouble = Problème en route
chip-refunded = Terminé
chip-partly = Remboursé en partie
chip-kept = À garder
chip-cancelled = Annulé
chip-expired = Expiré
unit-refunded = Remboursé
unit-not-arrived = Pas arrivé
unit-exchanged = Échangé
unit-waiting = Pas encore remboursé
partly-units = Article par article
sold-out-changes = Ce qui change
sold-out-refund = Ce que vous aviez choisi à la place était épuisé quand nous l’avons commandé. Vous recevez un remboursement, sur le moyen de paiement utilisé. Vous n’avez rien d’autre à faire.

time-heading = Ce qui s’est passé
time-done = Fait :
time-now = Maintenant :
time-todo = À venir :
time-bad = Problème :
time-exchange-pending = { $what ->
    [card] Nous commandons votre carte cadeau
    [both] Nous commandons le nouvel article et votre carte cadeau
   *[goods] Nous commandons le nouvel article
}
time-drop-off = Déposez-le
time-send = Envoyez-le
time-arrives = Nous recevons votre colis
time-refund-about = { $gift ->
    [yes] Carte cadeau
   *[no] Remboursement d’environ { $amount }
}
time-refund-note = { $gift ->
    [yes] Par e-mail
   *[no] Sur le moyen de paiement utilisé
}
time-refunded-amount = { $gift ->
    [yes] Envoyé
   *[no] { $amount } remboursés
}
event-confirmed = Retour confirmé
event-code-made = Code créé
event-label-made = Étiquette créée
event-dropped-off = Déposé
event-on-its-way = En route
event-arrived = Nous avons reçu votre colis
event-received = Nous avons reçu vos articles
event-coming-back = Livraison impossible, revient chez vous
event-trouble = Problème chez le transporteur
event-cancelled = Annulé
event-expired = Clôturé, rien reçu
event-exchange-placed = { $what ->
    [card] Votre carte cadeau est commandée
    [both] Le nouvel article et votre carte cadeau sont commandés
   *[goods] Le nouvel article est commandé
}
event-exchange-converted = Échange impossible

cancel-title = Annuler ce retour ?
cancel-heading = Annuler ce retour ?
cancel-code = Le code
cancel-code-stops = ne fonctionnera plus. Ne déposez rien avec ce code.
cancel-keep = Vous gardez les articles. Pas de remboursement, pas de frais.
cancel-again = Vous pouvez recommencer tant que les articles peuvent être retournés.
cancel-yes = Oui, annuler
cancel-no = Non, garder le retour
cancel-late-title = Il ne peut plus être annulé
cancel-late-heading = Il ne peut plus être annulé
cancel-late-lede = Il est déjà en route. Votre retour se poursuit comme prévu.
cancel-late-see = Voir le retour

## Trouble

missing-title = Page introuvable
missing-heading = Nous ne trouvons pas cette page
missing-lede = Le lien est peut-être incomplet ou trop ancien. Vos commandes et vos retours sont en sécurité.
missing-nowhere = Utilisez le lien de votre confirmation de commande, ou celui du site de la boutique.
foreign-title = Ce formulaire ne peut pas être utilisé
foreign-heading = Ce formulaire ne peut pas être utilisé
foreign-lede = Il ne vient pas de nos pages, ou il est incomplet. Rien n’a été modifié. Repartez de la première page.
gone-title = Cela n’existe plus
gone-heading = Cela n’existe plus
gone-lede = Les étiquettes sont supprimées après 90 jours. Votre retour n’a pas changé.
trouble-title = Un problème est survenu de notre côté
trouble-heading = Un problème est survenu de notre côté
trouble-lede = Vous n’y êtes pour rien. Vos réponses sont enregistrées et rien n’a été envoyé deux fois.
trouble-again = Réessayer
trouble-mention = Si vous nous écrivez, mentionnez ce numéro :
busy-title = Trop de tentatives
busy-heading = Faisons une courte pause
busy-lede = Il y a eu trop de tentatives depuis votre connexion Internet. Cette limite protège vos commandes contre les essais au hasard.
busy-until = Vous pourrez réessayer à partir du { $time }.
over-title = Vous avez fait une pause
over-heading = Vous avez fait une pause
over-lede = Après 30 minutes, nous fermons votre commande, pour que personne d’autre ne la voie sur cet appareil. Rien n’a été envoyé.
over-kept = Retrouvez votre commande et reprenez où vous en étiez. Nous avons gardé vos choix.
over-go-on = Continuer

## The page of a link in a mail about a return

return-link-title = Ouvrir votre retour
return-link-heading = Ouvrir votre retour
return-link-lede = Ce lien affiche le retour { $rma } et rien d’autre. Appuyez sur « Continuer » pour l’ouvrir.
return-link-why-answer = Certaines messageries ouvrent chaque lien pour le vérifier. Grâce à cette étape, votre retour ne s’ouvre que lorsque vous cliquez.
return-link-device-answer = Nous fermons votre retour après 30 minutes d’inactivité. Sur un appareil partagé, fermez la fenêtre quand vous avez terminé.
return-link-over-title = Ce lien ne fonctionne plus
return-link-over-heading = Ce lien ne fonctionne plus
return-link-over-lede = Un lien dans nos e-mails fonctionne pendant 90 jours. Votre retour n’a pas changé : retrouvez-le avec votre numéro de commande.
shop-link-over-title = Ce lien ne fonctionne plus
shop-link-over-heading = Ce lien ne fonctionne plus
shop-link-over-lede = Un lien de la boutique fonctionne une seule fois, pendant dix minutes. Retournez dans la boutique et réessayez, ou trouvez votre commande avec son numéro.
one-return-title = Trouvez d’abord votre commande
one-return-heading = Trouvez d’abord votre commande
one-return-lede = Le lien dans votre e-mail affiche un seul retour. Pour voir toute la commande, trouvez-la avec son numéro.

## Mails
## Every text may use: shop, name, rma, order, method (mail-back, express-returns or customer-keep), units, date and moment (of the news),
## weekday, day and days (until the goods must be handed over), what (goods, card or both), new_order, refunded, to_come, fee.

mail-hello = Bonjour { $name },
mail-hello-nobody = Bonjour,
mail-code = Votre numéro de retour
mail-code-over = { $rma }. Il ne fonctionne plus : n’envoyez rien avec ce numéro.
mail-goods = { $units ->
    [one] L’article
   *[other] Les articles
}
mail-until = { $method ->
    [express-returns] À déposer jusqu’au
   *[mail-back] À envoyer jusqu’au
}
mail-until-day = { $weekday }
mail-tracking-number = Numéro de colis
mail-estimated = Remboursement estimé
mail-to-come = Reste à rembourser
mail-amount-refunded = { $refunded }
mail-amount-to-come = Environ { $to_come }, sur le moyen de paiement utilisé
mail-amount-after-fee = Environ { $to_come }, sur le moyen de paiement utilisé. Les frais de { $fee } sont déduits.
mail-questions-answer = Des questions ? Répondez à cet e-mail.
mail-questions-shop = Des questions ? Adressez-vous à { $shop }.
mail-why = Vous recevez cet e-mail en raison du retour { $rma } pour la commande { $order }.
mail-why-gift = Vous recevez cet e-mail en raison du retour { $rma }.
mail-why-link = Vous recevez cet e-mail parce que quelqu’un a saisi votre adresse sur les pages de retour de { $shop }.
mail-no-advertising = Cet e-mail n’est pas une publicité : vous n’avez donc pas à vous désabonner. Il ne contient aucun traceur.

mail-confirmed-subject = { $method ->
    [express-returns] Votre retour est confirmé : à déposer jusqu’au { $day }
    [customer-keep] Votre retour est confirmé
   *[mail-back] Votre retour est confirmé : à envoyer jusqu’au { $day }
}
mail-confirmed-subject-open = Votre retour est confirmé
mail-confirmed-preview = Ce que vous retournez, et la suite.
mail-confirmed-heading = Votre retour est confirmé
mail-confirmed-lede = { $method ->
    [express-returns] { $units ->
        [one] Merci. Vous avez jusqu’au { $weekday } pour déposer l’article.
       *[other] Merci. Vous avez jusqu’au { $weekday } pour déposer les { $units } articles.
    }
    [customer-keep] Merci. Il n’y a rien à envoyer.
   *[mail-back] { $units ->
        [one] Merci. Vous avez jusqu’au { $weekday } pour envoyer l’article.
       *[other] Merci. Vous avez jusqu’au { $weekday } pour envoyer les { $units } articles.
    }
}
mail-confirmed-lede-open = { $method ->
    [express-returns] { $units ->
        [one] Merci. Déposez l’article quand vous voulez.
       *[other] Merci. Déposez les { $units } articles quand vous voulez.
    }
    [customer-keep] Merci. Il n’y a rien à envoyer.
   *[mail-back] { $units ->
        [one] Merci. Envoyez l’article quand vous voulez.
       *[other] Merci. Envoyez les { $units } articles quand vous voulez.
    }
}
mail-confirmed-button = Ouvrir mon retour
mail-confirmed-label = { $method ->
    [express-returns] Ouvrez votre retour pour voir votre code. Si cela prend plus de dix minutes, nous vous écrirons à nouveau.
   *[mail-back] Ouvrez votre retour pour obtenir l’étiquette. Si cela prend plus de dix minutes, nous vous écrirons à nouveau.
}
mail-confirmed-label-unlinked = { $method ->
    [express-returns] Votre code arrive. Nous vous écrirons à nouveau quand il sera prêt.
   *[mail-back] Votre étiquette arrive. Nous vous écrirons à nouveau quand elle sera prête.
}
mail-confirmed-label-of-shop = La boutique prépare votre étiquette. Dès qu’elle est prête, ouvrez votre retour pour l’obtenir.
mail-confirmed-send = { $method ->
    [express-returns] Apportez le tout dans un point de dépôt. Aucun carton nécessaire.
   *[mail-back] Mettez le tout dans un seul carton, collez l’étiquette et envoyez-le. Gardez le reçu.
}
mail-confirmed-exchange = { $what ->
    [card] Nous commandons votre carte cadeau maintenant. Nous vous écrirons quand elle sera commandée.
    [both] Nous commandons le nouvel article et votre carte cadeau maintenant. Nous vous écrirons quand ils seront commandés.
   *[goods] Nous commandons le nouvel article maintenant. Nous vous écrirons quand il sera commandé.
}
mail-confirmed-refund = { $method ->
    [customer-keep] Vous recevrez votre remboursement, et un e-mail dès qu’il sera effectué.
   *[other] Dès réception, nous vous remboursons et vous prévenons par e-mail.
}

mail-label-ready-subject = { $method ->
    [express-returns] Votre code de dépôt est prêt
   *[mail-back] Votre étiquette de retour est prête
}
mail-label-ready-preview = { $method ->
    [express-returns] Montrez-le dans un point de dépôt.
   *[mail-back] Imprimez-la, collez-la, envoyez le colis.
}
mail-label-ready-heading = { $method ->
    [express-returns] Votre code est prêt
   *[mail-back] Votre étiquette est prête
}
mail-label-ready-lede = { $method ->
    [express-returns] Le code de votre retour est prêt. Montrez-le dans un point de dépôt ; aucun carton nécessaire.
   *[mail-back] L’étiquette de votre retour est prête. Une adresse y figure, c’est pourquoi la page demande d’abord le code postal.
}
mail-label-ready-button = { $method ->
    [express-returns] Afficher mon code
   *[mail-back] Obtenir l’étiquette
}
mail-label-ready-steps = Comment l’envoyer
mail-label-ready-box = Mettez le tout dans un seul carton.
mail-label-ready-stick = Collez l’étiquette. Recouvrez les anciennes étiquettes.
mail-label-ready-keep = Gardez le reçu jusqu’à l’arrivée de votre remboursement.

mail-on-its-way-subject = Votre retour est en route
mail-on-its-way-preview = Vous n’avez plus rien à faire.
mail-on-its-way-heading = Votre retour est en route
mail-on-its-way-lede = Le transporteur a pris en charge votre retour le { $date }. Vous n’avez plus rien à faire.
mail-on-its-way-button = Suivre mon retour

mail-reminder-subject = { $method ->
    [express-returns] { $days ->
        [one] Plus que { $days } jour pour déposer votre retour
       *[other] Plus que { $days } jours pour déposer votre retour
    }
   *[mail-back] { $days ->
        [one] Plus que { $days } jour pour envoyer votre retour
       *[other] Plus que { $days } jours pour envoyer votre retour
    }
}
mail-reminder-preview = Il n’est pas encore chez le transporteur.
mail-reminder-heading = { $method ->
    [express-returns] { $days ->
        [one] Plus que { $days } jour pour le déposer
       *[other] Plus que { $days } jours pour le déposer
    }
   *[mail-back] { $days ->
        [one] Plus que { $days } jour pour l’envoyer
       *[other] Plus que { $days } jours pour l’envoyer
    }
}
mail-reminder-lede = Nous n’avons pas encore vu votre retour. Vous avez jusqu’au { $weekday }. Ensuite, le retour sera clôturé et rien ne sera remboursé.
mail-reminder-button = Ouvrir mon retour
mail-reminder-sent = { $method ->
    [express-returns] Déjà déposé ? Ignorez simplement cet e-mail. Il peut s’écouler deux jours avant que nous le voyions.
   *[mail-back] Déjà envoyé ? Ignorez simplement cet e-mail. Il peut s’écouler deux jours avant que nous le voyions.
}
mail-reminder-keep = Vous préférez le garder ? Vous n’avez rien à faire. Nous ne vous enverrons pas d’autre rappel.

mail-refunded-subject = Nous avons remboursé { $refunded }
mail-refunded-subject-gift = Votre retour est terminé
mail-refunded-preview = Il peut mettre quelques jours à apparaître sur votre compte.
mail-refunded-heading = Nous avons remboursé { $refunded }
mail-refunded-heading-gift = Votre retour est terminé
mail-refunded-lede = Nous avons effectué le remboursement sur le moyen de paiement utilisé. Il peut mettre quelques jours à apparaître sur votre compte.
mail-refunded-lede-gift = { $shop } a clôturé votre retour. Vous recevez une carte cadeau par e-mail.
mail-refunded-row = Remboursé
mail-refunded-button = Voir mon retour

mail-cancelled-subject = Votre retour est annulé
mail-cancelled-preview = N’envoyez rien avec ce retour.
mail-cancelled-heading = Votre retour est annulé
mail-cancelled-lede = { $units ->
    [one] Ce retour a été annulé le { $moment }. Vous gardez l’article, et rien n’a été débité.
   *[other] Ce retour a été annulé le { $moment }. Vous gardez les articles, et rien n’a été débité.
}
mail-cancelled-lede-by-shopper = { $units ->
    [one] Vous avez annulé ce retour le { $moment }. Vous gardez l’article, et rien n’a été débité.
   *[other] Vous avez annulé ce retour le { $moment }. Vous gardez les articles, et rien n’a été débité.
}
mail-cancelled-button = Voir mon retour
mail-cancelled-not-you = Ce n’était pas vous ? Répondez à cet e-mail.

mail-expired-subject = Votre retour a expiré
mail-expired-preview = Nous n’avons rien reçu à temps.
mail-expired-heading = Votre retour a expiré
mail-expired-lede = Vous aviez jusqu’au { $weekday }. Nous n’avons rien reçu, le retour a donc été clôturé. Rien n’a été débité, et rien ne sera remboursé.
mail-expired-steps = Ce que vous pouvez faire
mail-expired-sent = Déjà envoyé ? Écrivez à { $shop } en joignant le reçu, pour que le colis soit recherché.
mail-expired-again = Vous souhaitez encore le retourner ? Vérifiez sur le portail de retours si c’est encore possible.
mail-expired-happy = Il vous convient finalement ? Vous n’avez rien à faire.
mail-expired-button = Voir mon retour

mail-exchange-placed-subject = { $what ->
    [card] Nous avons commandé votre carte cadeau
    [both] Nous avons commandé votre nouvel article et votre carte cadeau
   *[goods] Nous avons commandé votre nouvel article
}
mail-exchange-placed-preview = Il n’y a rien à payer.
mail-exchange-placed-heading = { $what ->
    [card] Nous avons commandé votre carte cadeau
    [both] Nous avons commandé votre nouvel article et votre carte cadeau
   *[goods] Nous avons commandé votre nouvel article
}
mail-exchange-placed-lede = Il n’y a rien à payer.
mail-exchange-placed-order = Le numéro de la nouvelle commande est { $new_order }.
mail-exchange-placed-old = { $method ->
    [express-returns] Il vous reste à déposer ce que vous retournez. Si c’est déjà fait, vous n’avez plus rien à faire.
   *[mail-back] Il vous reste à envoyer ce que vous retournez. Si c’est déjà fait, vous n’avez plus rien à faire.
}
mail-exchange-placed-button = Voir mon retour

mail-exchange-sold-out-subject = Épuisé : vous recevez un remboursement à la place
mail-exchange-sold-out-preview = Nous avons remplacé votre échange par un remboursement.
mail-exchange-sold-out-heading = Épuisé. Vous recevez un remboursement à la place
mail-exchange-sold-out-lede = Nous sommes désolés : ce que vous aviez choisi ne pouvait plus être commandé. Nous avons remplacé l’échange par un remboursement.
mail-exchange-sold-out-button = Voir mon retour
mail-exchange-sold-out-keep = Vous préférez garder ce que vous avez ? Vous pouvez annuler le retour jusqu’à sa remise.

mail-sign-in-link-subject = Votre lien vers vos commandes et vos retours
mail-sign-in-link-preview = Il fonctionne une seule fois, pendant une heure.
mail-sign-in-link-heading = Ouvrir vos commandes et vos retours
mail-sign-in-link-lede = Voici le lien que vous avez demandé. Il fonctionne une seule fois, pendant une heure.
mail-sign-in-link-button = Ouvrir mes commandes et mes retours
mail-sign-in-link-continue = La page vous demande d’appuyer sur « Continuer ». Le lien n’est utilisé qu’à ce moment-là.
mail-sign-in-link-unasked = Vous n’avez rien demandé ? Ignorez simplement cet e-mail. Personne ne voit vos commandes sans ce lien : ne le transmettez pas.

## Withdrawing from a contract
# Legal wording, all of this part: for review by counsel.

withdraw-link = Renoncer au contrat ici
withdraw-link-note = Pour les commandes de l’UE, sous 14 jours, sans motif.
withdraw-title = Renoncer au contrat
withdraw-heading = Renoncer au contrat
withdraw-lede = Vous n’avez pas à donner de motif. Vous pourrez tout vérifier à la page suivante avant de confirmer.
withdraw-name = Votre nom
withdraw-name-missing = Saisissez votre nom
withdraw-order-hint = Ou ce que vous avez commandé et quand, si vous ne le retrouvez pas.
withdraw-order-missing = Saisissez le numéro de commande, ou ce que vous avez commandé et quand
withdraw-email = E-mail
withdraw-email-hint = Nous y enverrons l’accusé de réception.
withdraw-what = À quoi renoncez-vous ?
withdraw-all = Toute la commande
withdraw-all-of = Toute la commande : { $goods }
withdraw-some = Certains articles
withdraw-late = Livré il y a plus de 14 jours ? Envoyez quand même votre déclaration, nous vérifierons.
withdraw-late-return = Ou commencez un retour ordinaire.
withdraw-side-heading = Rétractation ou retour ?
withdraw-side-right = <b>La rétractation</b> est un droit que la loi vous garantit dans l’UE. Elle annule tout ou partie du contrat, sans motif, dans les 14 jours suivant la livraison.
withdraw-side-offer = <b>Le retour</b> est proposé par la boutique. Vous avez { $days } jours à compter de l’expédition, et un échange est parfois possible.
withdraw-side-both = Dans les deux cas, vous renvoyez les articles et nous vous remboursons.
withdraw-goods-title = Quels articles ?
withdraw-goods-heading = À quels articles renoncez-vous ?
withdraw-goods-lede = Vous pourrez tout vérifier à la page suivante avant de confirmer.
withdraw-goods-none = Choisissez au moins un article, ou toute la commande
withdraw-goods-all = Choisir toute la commande
withdraw-goods-words = Les articles
withdraw-goods-words-hint = Décrivez-les avec vos mots.
withdraw-goods-missing = Indiquez à quels articles vous renoncez
withdraw-exempt-heading = Pas de droit de rétractation pour ces articles
withdraw-exempt-made_to_order = Il a été fabriqué sur mesure pour vous.
withdraw-exempt-perishable = Il se détériore ou se périme rapidement.
withdraw-exempt-hygiene = Il était scellé pour des raisons de santé ou d’hygiène et ne peut pas être repris une fois ouvert.
withdraw-exempt-mixed = Après la livraison, il est mélangé à d’autres articles dont on ne peut plus le séparer.
withdraw-exempt-alcohol = Son prix a été convenu bien avant la livraison et dépend du marché.
withdraw-exempt-recording = C’est un enregistrement ou un logiciel scellé, qui ne peut pas être repris une fois ouvert.
withdraw-exempt-press = C’est un journal ou un magazine.
withdraw-exempt-no_consumers = Cette boutique ne vend qu’à des entreprises.
withdraw-exempt-no_country = Cette boutique ne vend pas dans l’UE.
withdraw-confirm-title = Confirmez votre rétractation
withdraw-confirm-heading = Confirmez votre rétractation
withdraw-confirm-lede = Voici votre déclaration. Elle prend effet dès que vous la confirmez.
withdraw-statement-heading = Déclaration de rétractation
withdraw-statement = À { $shop } : je vous notifie ma rétractation du contrat portant sur la vente des biens de la commande ci-dessous.
withdraw-name-label = Nom
withdraw-order-label = Commande
withdraw-goods-label = Biens
withdraw-ordered = Commandé le
withdraw-email-label = E-mail pour l’accusé de réception
withdraw-change = Modifier la déclaration
withdraw-confirm = Confirmer la rétractation
withdraw-done-title = Rétractation reçue
withdraw-done-heading = Nous avons reçu votre rétractation
withdraw-done-lede = Nous envoyons l’accusé de réception à <b>{ $email }</b>. Conservez-le.
withdraw-unknown-lede = Nous n’avons pas pu la rattacher à une commande. Elle est tout de même prise en compte dès maintenant, si elle est dans les délais. Nous envoyons l’accusé de réception à <b>{ $email }</b>.
withdraw-receipt = Accusé de réception
withdraw-received = Reçue le
withdraw-reference = Référence
withdraw-period = Dans les délais
withdraw-in-time = Oui. Votre délai de 14 jours expire le { $day }.
withdraw-in-time-open = Oui. Votre délai de 14 jours commencera quand tout sera arrivé.
withdraw-late-since = Votre délai de 14 jours a expiré le { $day }. La boutique va vérifier et vous écrira.
withdraw-next-send = Renvoyez les articles au plus tard le <b>{ $day }</b>.
withdraw-next-refund = Vous recevrez votre remboursement au plus tard le { $day }, ou lorsque la boutique aura reçu les articles ou votre preuve d’envoi.
withdraw-next-refund-unsent = Vous recevrez votre remboursement au plus tard le { $day }.
withdraw-next-gift = La commande était un cadeau : vous n’avez peut-être pas les articles. La boutique vous écrira au sujet des articles et de votre remboursement.
withdraw-send = Choisir le mode de renvoi
withdraw-other = Renvoyer autre chose
withdraw-person = Nous recherchons votre commande et vous écrirons à <b>{ $email }</b>. Vous n’avez pas à refaire votre déclaration.
withdraw-find = Chercher la commande moi-même
statement-title = Votre rétractation
statement-heading = Votre rétractation
statement-lede = Voici, mot pour mot, la déclaration dont nous avons accusé réception par e-mail.
statement-onward-heading = Continuer avec votre commande
statement-onward-note = Pour renvoyer des articles ou savoir où ils en sont, retrouvez votre commande avec son numéro et votre e-mail ou code postal. Cette page n’en montre rien.
statement-onward = Accéder à ma commande
statement-link-over-title = Ce lien ne fonctionne plus
statement-link-over-heading = Ce lien ne fonctionne plus
statement-link-over-lede = Un lien dans nos e-mails fonctionne pendant 90 jours. Votre rétractation reste valable : l’e-mail en reprend le contenu exact.

## The acknowledgement of a withdrawal
# Legal wording: for review by counsel.

mail-withdrawal-subject = Nous avons reçu votre rétractation, { $moment }
mail-withdrawal-preview = Conservez cet e-mail.
mail-withdrawal-heading = Nous avons reçu votre rétractation
mail-withdrawal-lede = Nous accusons réception de votre rétractation du contrat. Conservez cet e-mail.
mail-withdrawal-send = Renvoyez les articles au plus tard le { $day }.
mail-withdrawal-send-linked = Renvoyez les articles au plus tard le { $day }. Ouvrez votre rétractation ci-dessous pour choisir comment.
mail-withdrawal-refund = Vous recevrez votre remboursement sous 14 jours, ou lorsque la boutique aura reçu les articles ou votre preuve d’envoi.
mail-withdrawal-refund-unsent = Vous recevrez votre remboursement sous 14 jours.
mail-withdrawal-gift = La commande était un cadeau : vous n’avez peut-être pas les articles. La boutique vous écrira au sujet des articles et de votre remboursement.
mail-withdrawal-person = Nous n’avons pas pu rattacher votre déclaration à une commande. Elle est tout de même prise en compte dès maintenant, si elle est dans les délais. Nous recherchons votre commande et vous écrirons.
mail-withdrawal-button = Ouvrir ma rétractation
mail-why-withdrawal = Vous recevez cet e-mail à la suite de la rétractation { $reference } chez { $shop }.
