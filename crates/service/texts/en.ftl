# English. Words between < and > are markup; values in { } are filled in.

## Every page

language-name = English
error-title = Error:
error-label = Error:
returns = Returns
skip = Skip to main content
back = Back
continue = Continue
language = Language:
brand-label = { $shop } returns, start
support-notice = <bdi>{ $name }</bdi> is acting for the shopper.
help-heading = Need a hand?
help-write = Write to
help-call = Call
link-shop = Back to { $shop }
link-privacy = Privacy
link-terms = Terms
write-to-us = Write to us.
start-again = Start a return
# Legal wording: for review by counsel.
cookie-note = We set one cookie to keep your place for 30 minutes, one while you withdraw from a contract, and one if you choose a language. No tracking, no ads. Returns for { $shop } are run by Backhaul.
faults-heading = There is a problem
money = { $symbol }{ $amount }
less = −{ $amount }
step = Step { $step } of 5
step-item = Step { $step } of 5 · item { $item } of { $items }
return-by = Return by
return-by-within = return by
by-day = By { $day }
units-of = { $units } of { $quantity }
units = { $units ->
    [one] 1 piece
   *[other] { $units } pieces
}
price-each = each
free = Free

## Finding the order

find-title = Find your order
find-heading = Return or exchange something
find-lede = First, let’s find your order. You don’t need an account.
find-number = Order number
find-number-hint = In your confirmation e-mail.
find-key = E-mail or postcode
find-key-hint = The ones you used for this order. Either is fine.
find-button = Find my order
find-number-missing = Enter your order number
find-key-missing = Enter the e-mail or the postcode of the order
find-miss-heading = We can’t find that order
find-miss = Check the order number, and the e-mail or postcode
find-miss-note = These two must belong together. It often helps to:
find-miss-copy = copy the number from the confirmation e-mail
find-miss-postcode = try the postcode instead of the e-mail
find-miss-wait = wait a few minutes if you have only just ordered
find-elsewhere = Bought somewhere else?
find-elsewhere-answer = We can only take back what was ordered at { $shop }. For anything else, ask where you bought it.

lost-link = Don’t have the number? Get a link by e-mail

## A link by e-mail

lost-title = Get a link by e-mail
lost-heading = Get a link by e-mail
lost-lede = We send you a link that opens your orders and returns. No order number needed.
lost-email = E-mail of the order
lost-wrong = Enter an e-mail address, like name@example.com
lost-send = Send me a link
lost-number = Use the order number instead
sent-title = Check your e-mail
sent-heading = Check your e-mail
sent-lede = If we have orders for <b>{ $email }</b>, a link is on its way. It works once, for one hour.
sent-nothing = Nothing there after five minutes?
sent-spam = Look in spam or promotions.
sent-other = Did you order with another e-mail?
sent-other-try = Try that one.
sent-number = Have the order number at hand?
sent-number-find = Find the order with it.
link-title = Open your orders and returns
link-heading = Open your orders and returns
link-lede = Your link works once. It is used when you press Continue.
link-why = Why one more step?
link-why-answer = Some mail programs open every link to check it. With this step, only you use yours up.
link-device = Not your own device?
link-device-answer = We close your orders after 30 minutes without a click. On a shared device, close the window when you are done.
used-title = This link no longer works
used-heading = This link no longer works
used-lede = A link works once, for one hour. This one was used, or its hour is over. Your returns are as you left them.
used-hint = We send you a new link.
used-send = Send me a new link
used-latest = Asked for more than one link? Use the one in the latest e-mail.
orders-title = Your orders
orders-heading = Which order is it about?
orders-open = Go on with this order

## The promises beside the first pages

promises = Returns at { $shop }
promise-window = <b>{ $days } days to decide.</b> Counted from the day we shipped.
promise-express = <b>No printer, no box.</b> Show a code at a drop-off place.
promise-exchange = <b>Another size?</b> Exchange it at no extra cost.

## Choosing

items-title = Choose items
items-heading = What would you like to send back?
items-lede = Tick what goes back. Prices are what you paid, after discounts.
items-gift-lede = This was a gift, so you see no prices. What you get goes to you, and the buyer hears nothing from us.
items-how-many = How many go back?
items-none = Tick at least one item
items-partly = { $units } of { $quantity } can come back. { $why }
items-cannot = These can’t come back
items-damaged = Damaged or not what you ordered? That is different.
items-nothing-title = Nothing can come back
items-nothing = Nothing in this order can come back
items-more = What you can still do
items-other = Another order?
items-other-find = Find it here.
giftee-label = Your e-mail
giftee-hint = The gift card goes here. We don’t share it with the buyer.
giftee-missing = Enter your e-mail, such as name@example.com
order-heading = Order { $order }
order-placed = Ordered
order-shipped = Shipped

held-order_cancelled = The order was cancelled.
held-cancelled = Cancelled before it was shipped.
held-not_shipped = Not shipped yet. Come back when it is with you.
held-refunded = Already refunded.
held-in_return = Already in another return.
# Legal wording: for review by counsel.
held-final_sale = Final sale. This was marked when you bought it.
held-gift = This can’t be returned here. Write to us, and we look into it.
# Legal wording: for review by counsel.
held-gift_card = Gift cards can’t be returned.
held-pickup_in_store = Picked up in a shop. Return it there.
held-third_party = Sold by another company. Ask them to take it back.
# Legal wording: for review by counsel.
held-window_over = The time for returns is over.
# Legal wording: for review by counsel.
held-window_over-on = The time for returns ended on { $day }.

## Why

reason-title = Why is it going back?
reason-heading = Why is it going back?
reason-lede = It helps us find the right offer for you. You don’t have to tell us.
reason-legend = Why is { $title } going back?
reason-TOO_SMALL = Too small
reason-TOO_LARGE = Too large
reason-CHANGED_MIND = I changed my mind
reason-NOT_AS_DESCRIBED = Not as described
reason-DAMAGED = Damaged or faulty
reason-WRONG_ITEM = Not what I ordered
reason-NOT_GIVEN = I’d rather not say

## What instead

draft-heading = Your return

instead-title = What would you like instead?
instead-heading = What would you like instead?
instead-legend = What would you like instead of { $title }?
instead-exchange = Another size or colour
instead-exchanged = Exchange
instead-kept = You keep it
instead-exchange-note = We order it when you confirm. No need to wait until the old one arrives.
instead-exchange-slow = We can’t see what is in stock right now. Your answers are kept, so you can try again in a minute.
instead-exchange-sold-out = Sold out
instead-exchange-none = Everything we could exchange it for is sold out.
instead-again = Try again
instead-refund = Refund
instead-refund-note = To the way you paid, after we get it.
instead-gift-card = Gift card
instead-gift-card-note = By e-mail.
instead-gift-note = By e-mail, after we get it. You see the amount when it reaches you.
instead-gift-card-bonus = { $worth } for what you return and <b>{ $bonus } on top</b> from us. By e-mail.
instead-once = An order can be exchanged once. Take care of all exchanges of this order now.
instead-none = Choose what you would like instead

exchange-title = Which one would you like?
exchange-heading = Which one would you like?
exchange-variant = Variant
exchange-note = Same price, nothing to pay. We order it as soon as you confirm.
exchange-other = Mine isn’t here
exchange-none = Choose one
exchange-gone = This one has just sold out. Choose another
sold-out = sold out
in-stock = in stock
left = { $left } left

## How

how-title = How would you like to send it back?
how-heading = How would you like to send it back?
how-keep-heading = Send it back, or keep it?
how-lede-fee = Everything goes back together. A fee is taken off your refund, so you pay nothing now.
how-express-returns = Drop it off
how-express-returns-note = Show a code at a drop-off place. They pack it and label it.
how-mail-back = Send it with a label
how-mail-back-note = Put it in a box, stick the label on and take it to the carrier.
how-customer-keep = Keep it
how-customer-keep-note = Use it, give it away or recycle it. You still get your money.
how-none = Choose how to send it back
fact-no-printer = No printer
fact-no-box = No box
fact-printer = Printer needed
fact-box = Box needed
fact-nothing = Nothing to send

## Check and confirm

check-title = Check before you confirm
check-heading = Check before you confirm
check-reason = Reason
check-instead = Instead
check-change = Change
check-change-reason = reason for
check-change-instead = what you get for
check-change-way = way back
check-exchange = Exchange for { $variant }
check-refund = Refund to the way you paid
check-gift = Gift card for what it is worth
check-gift-lede = The buyer hears nothing from us about this return.
check-gift-amount = A gift card for what it is worth. You see the amount when it reaches you.
check-giftee = It goes to
check-change-giftee = your e-mail
check-way = Way back
check-fee = Fee
check-new-goes = The new one goes to
check-new-address = The address of order
check-bill = Your refund
check-gets = What you get
check-estimate = It is an estimate until we have looked at the items.
check-until = You then have time to hand it over until
check-confirm = Confirm return
check-confirming = Confirming…
check-items = Change items
bill-caption = Estimated refund, line by line
bill-units = { $title }, { $units } pieces
bill-price = Price
bill-discount = Discounts
bill-tax = Tax
bill-exchanged = Exchanged at the same price
bill-fee = Fee for the way back
bill-total = Estimated refund
bill-gift-card = Gift card
bill-gift-card-bonus = Gift card, with { $bonus } on top

changed-title = Something has changed
changed-not-started = We did not start the return
changed-heading = Something has changed
changed-lede = All other answers are as you gave them.
changed-chose = You chose
changed-now = Now
changed-item = { $title }: { $now }
changed-none = This can’t come back any more. { $why }
changed-fewer = Only { $units } of { $quantity } can still come back. { $why }
changed-sold-out = It has just sold out.
changed-slow = We can’t see what is in stock right now.
changed-exchanged = This order was exchanged already, and that is possible once.
changed-no-exchange = This is no longer possible.
changed-exchange = Exchange for { $variant }
changed-see-all = See everything in stock
changed-way = The way back that you chose is no longer possible. Choose another on the next page.

## Done

done-title = Your return is confirmed
done-heading = Your return is confirmed
done-show-code = Show this at the counter
done-code-alt = The QR code of your return
done-say-code = or say this code
done-number = Your return number
done-parcel = Parcel number
done-drop-until = Drop off by
done-send-until = Send by
done-until = Hand over by
done-items = Items
done-cost-label = Cost
done-cost = { $amount }
done-cost-deducted = { $amount }, off your refund
done-label = Open the label (PDF)
done-show = Check again
done-follow = Follow this return
done-pending-code = Your code is being made.
done-pending-label = Your label is being made.
done-pending-note = It takes a few seconds. You can come back to this page at any time.
done-unlabelled = Your label is not here yet.
done-unlabelled-note = The shop makes it and it then appears on this page. Come back later, or write to us.
done-refused-title = Your return is confirmed, without a label
done-refused-heading = Your return is confirmed, but the carrier makes no label
done-refused-lede = The carrier refused to make a label for the address of this order. Choose another way back, or write to us.
done-another = Choose another way back
done-kept-heading = All done. It is yours to keep
done-kept-lede = There is nothing to send.
done-kept-refund = Refund to the way you paid
next-heading = What happens next
next-drop-off = Take everything to a drop-off place by <b>{ $day }</b>. No box needed.
next-send = Put everything in one box, stick the label on and send it by <b>{ $day }</b>. Keep the receipt.
next-drop-off-open = Take everything to a drop-off place. No box needed.
next-send-open = Put everything in one box, stick the label on and send it. Keep the receipt.
next-exchange = { $what ->
    [card] We order your gift card <b>now</b>. It comes by e-mail.
    [both] We order the new one and your gift card <b>now</b>.
   *[goods] We order the new one <b>now</b>.
}
next-exchange-placed = { $what ->
    [card] Your gift card is <b>ordered</b>. It comes by e-mail.
    [both] The new one and your gift card are <b>ordered</b>.
   *[goods] The new one is <b>ordered</b>.
}
next-refund = { $gift ->
    [yes] When it reaches us, you get a <b>gift card</b> by e-mail.
   *[no] When it reaches us, you get a refund of about <b>{ $amount }</b>, to the way you paid.
}

postcode-title = Enter the postcode
postcode-heading = Enter the postcode to see the label
postcode-lede = A name and an address stand on the label. So we ask first.
postcode = Postcode
postcode-hint = Of the address the order was sent to.
postcode-show = Show the label
postcode-miss = Check the postcode
postcode-not-needed = You don’t need the label to see where your return is.

## Where it is

returns-title = Your returns
returns-heading = { $returns ->
    [one] You have one return for this order
   *[other] You have { $returns } returns for this order
}
returns-see = See this return
returns-more = Return something else
returns-refund = About { $amount }, after we get it
status-title = Where your return is
status-return = Return
status-ticket-express-returns = Show my code
status-ticket-mail-back = Show the label
status-again = Start a new return
status-bill = How your refund is made up
status-help = Get help with this return
status-mention = and mention
status-cancel = Cancel this return
status-too-late = This return can’t be cancelled any more, because it is on its way.
status-exchanged = This return can’t be cancelled, because what you get instead is ordered.

status-waiting-heading = Waiting for you to send it
status-waiting-drop-heading = Waiting for you to drop it off
status-waiting-lede = You have until { $day }.
status-sold-out-heading = Sold out. You get a refund instead
status-dropped-off-heading = Dropped off
status-dropped-off-lede = It will be on its way to us soon.
status-on-its-way-heading = Your parcel is on its way to us
status-on-its-way-lede = There is nothing to do for you.
status-arrived-heading = We got your parcel
status-arrived-lede = We look at the items next.
status-coming-back-heading = Your parcel is coming back to you
status-coming-back-lede = The carrier could not deliver it to us. You did nothing wrong. Write to us when it is with you.
status-trouble-heading = The carrier has trouble with your parcel
status-trouble-lede = You did nothing wrong. We keep an eye on it.
status-refunded-heading = Your return is complete
status-refunded-lede = { $gift ->
    [yes] What you get was sent to you.
   *[no] We refunded { $amount }, to the way you paid.
}
status-partly-heading = We refunded a part
status-partly-lede = { $gift ->
    [yes] A part of what you get was sent to you.
   *[no] So far: { $amount }, to the way you paid.
}
status-kept-heading = It is yours to keep
status-kept-lede = { $gift ->
    [yes] You get a gift card by e-mail.
   *[no] You get a refund of { $amount }, to the way you paid.
}
status-cancelled-heading = This return is cancelled
status-cancelled-lede = You keep the items. Its code no longer works.
status-expired-heading = This return has run out
status-expired-lede = We did not get the items in time, so the return was closed.

chip-waiting = Waiting for you
chip-dropped-off = Dropped off
chip-on-its-way = On its way to us
chip-arrived = With us
chip-coming-back = Coming back to you
chip-trouble = Trouble on the way
chip-refunded = Complete
chip-partly = Partly refunded
chip-kept = Yours to keep
chip-cancelled = Cancelled
chip-expired = Run out
unit-refunded = Refunded
unit-not-arrived = Not arrived
unit-exchanged = Exchanged
unit-waiting = Not refunded yet
partly-units = Piece by piece
sold-out-changes = What changes
sold-out-refund = What you chose instead was sold out when we ordered it. You get a refund for it, to the way you paid. You don’t have to do anything else.

time-heading = What has happened
time-done = Done:
time-now = Now:
time-todo = To come:
time-bad = Problem:
time-exchange-pending = { $what ->
    [card] We are ordering your gift card
    [both] We are ordering the new one and your gift card
   *[goods] We are ordering the new one
}
time-drop-off = Drop it off
time-send = Send it
time-arrives = We get your parcel
time-refund-about = { $gift ->
    [yes] Gift card
   *[no] Refund of about { $amount }
}
time-refund-note = { $gift ->
    [yes] By e-mail
   *[no] To the way you paid
}
time-refunded-amount = { $gift ->
    [yes] Sent to you
   *[no] Refunded { $amount }
}
event-confirmed = Return confirmed
event-code-made = Code made
event-label-made = Label made
event-dropped-off = Dropped off
event-on-its-way = On its way
event-arrived = We got your parcel
event-received = We got your items
event-coming-back = Could not be delivered, coming back to you
event-trouble = Trouble with the carrier
event-cancelled = Cancelled
event-expired = Closed, nothing received
event-exchange-placed = { $what ->
    [card] Your gift card is ordered
    [both] The new one and your gift card are ordered
   *[goods] The new one is ordered
}
event-exchange-converted = Exchange not possible

cancel-title = Cancel this return?
cancel-heading = Cancel this return?
cancel-code = The code
cancel-code-stops = stops working. Don’t drop anything off with it.
cancel-keep = You keep the items. There is no refund and no fee.
cancel-again = You can start again as long as the items can come back.
cancel-yes = Yes, cancel it
cancel-no = No, keep the return
cancel-late-title = It can’t be cancelled any more
cancel-late-heading = It can’t be cancelled any more
cancel-late-lede = It is on its way already. Your return goes on as planned.
cancel-late-see = See the return

## Trouble

missing-title = Page not found
missing-heading = We can’t find this page
missing-lede = The link may be cut off or too old. Your orders and returns are safe.
missing-nowhere = Use the link in your order confirmation, or the one on the shop’s own pages.
foreign-title = This form can’t be used
foreign-heading = This form can’t be used
foreign-lede = It did not come from our own pages, or is incomplete. Nothing was changed. Start from the first page.
gone-title = This is no longer here
gone-heading = This is no longer here
gone-lede = Labels are deleted after 90 days. Your return is as it was.
trouble-title = Something went wrong on our side
trouble-heading = Something went wrong on our side
trouble-lede = It is not you. Your answers are kept and nothing was sent twice.
trouble-again = Try again
trouble-mention = If you write to us, mention this number:
busy-title = Too many attempts
busy-heading = Let’s take a short break
busy-lede = There were too many attempts from here. This keeps your orders safe from people who guess.
busy-until = You can try again from { $time }.
over-title = You were away for a while
over-heading = You were away for a while
over-lede = After 30 minutes we close your order, so that nobody else can see it on this device. Nothing was sent.
over-kept = Find your order again and go on where you were. We kept your choices.
over-go-on = Go on

## The page of a link in a mail about a return

return-link-title = Open your return
return-link-heading = Open your return
return-link-lede = This link shows return { $rma } and nothing else. Press Continue to open it.
return-link-why-answer = Some mail programs open every link to check it. With this step, only you open your return.
return-link-device-answer = We close your return after 30 minutes without a click. On a shared device, close the window when you are done.
return-link-over-title = This link no longer works
return-link-over-heading = This link no longer works
return-link-over-lede = A link in our e-mails works for 90 days. Your return is as you left it: find it with the number of your order.
shop-link-over-title = This link no longer works
shop-link-over-heading = This link no longer works
shop-link-over-lede = A link from the shop works once, for ten minutes. Go back to the shop and try again, or find your order with its number.
one-return-title = Find your order first
one-return-heading = Find your order first
one-return-lede = The link in your e-mail shows one return. To see the whole order, find it with its number.

## Mails
## Every text may use: shop, name, rma, order, method (mail-back, express-returns or customer-keep), units, date and moment (of the news),
## weekday, day and days (until the goods must be handed over), what (goods, card or both), new_order, refunded, to_come, fee.

mail-hello = Hello { $name },
mail-hello-nobody = Hello,
mail-code = Your return number
mail-code-over = { $rma }. It no longer works, so don’t send anything with it.
mail-goods = { $units ->
    [one] The item
   *[other] The items
}
mail-until = { $method ->
    [express-returns] Drop it off by
   *[mail-back] Send it by
}
mail-until-day = { $weekday }
mail-tracking-number = Parcel number
mail-estimated = Estimated refund
mail-to-come = Still to come
mail-amount-refunded = { $refunded }
mail-amount-to-come = About { $to_come }, to the way you paid
mail-amount-after-fee = About { $to_come }, to the way you paid. The fee of { $fee } is taken off.
mail-questions-answer = Questions? Answer this e-mail.
mail-questions-shop = Questions? Ask { $shop }.
mail-why = You get this e-mail because of return { $rma } for order { $order }.
mail-why-gift = You get this e-mail because of return { $rma }.
mail-why-link = You get this e-mail because somebody entered your address at the returns of { $shop }.
mail-no-advertising = This is no advertising, so there is nothing to unsubscribe from. Nothing in this e-mail tracks you.

mail-confirmed-subject = { $method ->
    [express-returns] Your return is confirmed: drop it off by { $day }
    [customer-keep] Your return is confirmed
   *[mail-back] Your return is confirmed: send it by { $day }
}
mail-confirmed-subject-open = Your return is confirmed
mail-confirmed-preview = What comes back, and what happens next.
mail-confirmed-heading = Your return is confirmed
mail-confirmed-lede = { $method ->
    [express-returns] { $units ->
        [one] Thank you. Drop the item off by { $weekday }.
       *[other] Thank you. Drop all { $units } items off by { $weekday }.
    }
    [customer-keep] Thank you. There is nothing to send.
   *[mail-back] { $units ->
        [one] Thank you. Send the item back by { $weekday }.
       *[other] Thank you. Send all { $units } items back by { $weekday }.
    }
}
mail-confirmed-lede-open = { $method ->
    [express-returns] { $units ->
        [one] Thank you. Drop the item off when you are ready.
       *[other] Thank you. Drop all { $units } items off when you are ready.
    }
    [customer-keep] Thank you. There is nothing to send.
   *[mail-back] { $units ->
        [one] Thank you. Send the item back when you are ready.
       *[other] Thank you. Send all { $units } items back when you are ready.
    }
}
mail-confirmed-button = Open my return
mail-confirmed-label = { $method ->
    [express-returns] Open your return to see your code. If it takes longer than ten minutes, we write again.
   *[mail-back] Open your return to get the label. If it takes longer than ten minutes, we write again.
}
mail-confirmed-label-unlinked = { $method ->
    [express-returns] Wait for your code. We write again when it is there.
   *[mail-back] Wait for your label. We write again when it is there.
}
mail-confirmed-label-of-shop = The shop makes your label. Open your return to get it once it is there.
mail-confirmed-send = { $method ->
    [express-returns] Take everything to a drop-off place. No box needed.
   *[mail-back] Put everything in one box, stick the label on and send it. Keep the receipt.
}
mail-confirmed-exchange = { $what ->
    [card] We order your gift card now. You hear from us when it is ordered.
    [both] We order the new item and your gift card now. You hear from us when they are ordered.
   *[goods] We order the new item now. You hear from us when it is ordered.
}
mail-confirmed-refund = { $method ->
    [customer-keep] You get your refund, and an e-mail when it is on its way to you.
   *[other] When it has reached us, you get your refund, and an e-mail about it.
}

mail-label-ready-subject = { $method ->
    [express-returns] Your drop-off code is ready
   *[mail-back] Your return label is ready
}
mail-label-ready-preview = { $method ->
    [express-returns] Show it at a drop-off place.
   *[mail-back] Print it, stick it on, send it.
}
mail-label-ready-heading = { $method ->
    [express-returns] Your code is ready
   *[mail-back] Your label is ready
}
mail-label-ready-lede = { $method ->
    [express-returns] Your return has its code now. Show it at a drop-off place; you need no box.
   *[mail-back] Your return has its label now. There is an address on it, so the page asks for the postcode first.
}
mail-label-ready-button = { $method ->
    [express-returns] Show my code
   *[mail-back] Get the label
}
mail-label-ready-steps = How to send it
mail-label-ready-box = Put everything in one box.
mail-label-ready-stick = Stick the label on. Cover old labels.
mail-label-ready-keep = Keep the receipt until your refund is there.

mail-on-its-way-subject = Your return is on its way
mail-on-its-way-preview = There is nothing left to do.
mail-on-its-way-heading = Your return is on its way
mail-on-its-way-lede = The carrier has had your return since { $date }. There is nothing left to do.
mail-on-its-way-button = Follow my return

mail-reminder-subject = { $method ->
    [express-returns] { $days ->
        [one] One day left to drop off your return
       *[other] { $days } days left to drop off your return
    }
   *[mail-back] { $days ->
        [one] One day left to send your return
       *[other] { $days } days left to send your return
    }
}
mail-reminder-preview = It has not reached the carrier yet.
mail-reminder-heading = { $method ->
    [express-returns] { $days ->
        [one] One day left to drop it off
       *[other] { $days } days left to drop it off
    }
   *[mail-back] { $days ->
        [one] One day left to send it
       *[other] { $days } days left to send it
    }
}
mail-reminder-lede = We have not seen your return yet. You have until { $weekday }. After that the return closes, and nothing is refunded.
mail-reminder-button = Open my return
mail-reminder-sent = { $method ->
    [express-returns] Dropped it off already? Then ignore this. It can take two days until we see it.
   *[mail-back] Sent it already? Then ignore this. It can take two days until we see it.
}
mail-reminder-keep = Rather keep it? Then there is nothing to do. This is the only reminder.

mail-refunded-subject = We refunded { $refunded }
mail-refunded-subject-gift = Your return is settled
mail-refunded-preview = Your bank may take some days to show it.
mail-refunded-heading = We refunded { $refunded }
mail-refunded-heading-gift = Your return is settled
mail-refunded-lede = We sent the money to the way you paid. Your bank may take some days to show it.
mail-refunded-lede-gift = { $shop } has settled what you returned. You get a gift card by e-mail.
mail-refunded-row = Refunded
mail-refunded-button = See my return

mail-cancelled-subject = Your return is cancelled
mail-cancelled-preview = Don’t send anything with it.
mail-cancelled-heading = Your return is cancelled
mail-cancelled-lede = { $units ->
    [one] This return was cancelled on { $moment }. You keep the item, and nothing was charged.
   *[other] This return was cancelled on { $moment }. You keep the items, and nothing was charged.
}
mail-cancelled-lede-by-shopper = { $units ->
    [one] You cancelled this return on { $moment }. You keep the item, and nothing was charged.
   *[other] You cancelled this return on { $moment }. You keep the items, and nothing was charged.
}
mail-cancelled-button = See my return
mail-cancelled-not-you = It wasn’t you? Answer this e-mail.

mail-expired-subject = Your return has run out
mail-expired-preview = We did not get anything in time.
mail-expired-heading = Your return has run out
mail-expired-lede = We did not get anything by { $weekday }, so we closed the return. Nothing was charged, and nothing is refunded.
mail-expired-steps = What you can do
mail-expired-sent = Sent it already? Write to { $shop } with the receipt, so that they look for the parcel.
mail-expired-again = Still want to return it? Check in the portal whether it can still come back.
mail-expired-happy = Happy with it? There is nothing to do.
mail-expired-button = See my return

mail-exchange-placed-subject = { $what ->
    [card] We ordered your gift card
    [both] We ordered your new item and your gift card
   *[goods] We ordered your new item
}
mail-exchange-placed-preview = There is nothing to pay.
mail-exchange-placed-heading = { $what ->
    [card] We ordered your gift card
    [both] We ordered your new item and your gift card
   *[goods] We ordered your new item
}
mail-exchange-placed-lede = There is nothing to pay.
mail-exchange-placed-order = The number of the new order is { $new_order }.
mail-exchange-placed-old = { $method ->
    [express-returns] Still to do: drop off what you return. If you have done that, there is nothing left to do.
   *[mail-back] Still to do: send what you return. If you have done that, there is nothing left to do.
}
mail-exchange-placed-button = See my return

mail-exchange-sold-out-subject = Sold out: you get a refund instead
mail-exchange-sold-out-preview = We changed your exchange into a refund.
mail-exchange-sold-out-heading = Sold out. You get a refund instead
mail-exchange-sold-out-lede = We are sorry: what you chose could not be ordered any more. We changed the exchange into a refund.
mail-exchange-sold-out-button = See my return
mail-exchange-sold-out-keep = Rather keep what you have? You can cancel the return until you hand it over.

mail-sign-in-link-subject = Your link to your orders and returns
mail-sign-in-link-preview = It works once, for one hour.
mail-sign-in-link-heading = Open your orders and returns
mail-sign-in-link-lede = Here is the link you asked for. It works once, for one hour.
mail-sign-in-link-button = Open my orders and returns
mail-sign-in-link-continue = The page asks you to press Continue. Only then the link is used up.
mail-sign-in-link-unasked = You didn’t ask for it? Then ignore this e-mail. Nobody sees your orders without the link, so don’t pass it on.

## Withdrawing from a contract
# Legal wording, all of this part: for review by counsel.

withdraw-link = Withdraw from contract here
withdraw-link-note = For orders from the EU, within 14 days, without a reason.
withdraw-title = Withdraw from contract
withdraw-heading = Withdraw from contract
withdraw-lede = You don’t need to give a reason. You check everything on the next page before it counts.
withdraw-name = Your name
withdraw-name-missing = Enter your name
withdraw-order-hint = Or what you ordered and when, if you can’t find it.
withdraw-order-missing = Enter the order number, or what you ordered and when
withdraw-email = E-mail
withdraw-email-hint = We send the acknowledgement here.
withdraw-what = What do you withdraw from?
withdraw-all = The whole order
withdraw-all-of = The whole order: { $goods }
withdraw-some = Some of the items
withdraw-late = Delivered more than 14 days ago? Send it anyway, and we check.
withdraw-late-return = Or start a normal return.
withdraw-side-heading = Withdrawal or return?
withdraw-side-right = <b>Withdrawal</b> is your legal right in the EU. It takes back the whole contract or a part of it, without a reason, within 14 days of delivery.
withdraw-side-offer = <b>A return</b> is our own offer. You have { $days } days from shipping, and you may be able to exchange.
withdraw-side-both = Either way you send the items back, and we refund you.
withdraw-goods-title = Which goods?
withdraw-goods-heading = Which goods do you withdraw from?
withdraw-goods-lede = You check everything on the next page before it counts.
withdraw-goods-none = Choose at least one item, or the whole order
withdraw-goods-all = Choose the whole order
withdraw-goods-words = The items
withdraw-goods-words-hint = In your own words.
withdraw-goods-missing = Write which items you withdraw from
withdraw-exempt-heading = These can’t be withdrawn from
withdraw-exempt-made_to_order = It was made to your order.
withdraw-exempt-perishable = It spoils or expires quickly.
withdraw-exempt-hygiene = It was sealed for health or hygiene, and can’t come back once it is opened.
withdraw-exempt-mixed = It is mixed with other things once it is delivered.
withdraw-exempt-alcohol = Its price was agreed long before delivery and depends on the market.
withdraw-exempt-recording = It is a sealed recording or software, and can’t come back once it is opened.
withdraw-exempt-press = It is a newspaper or magazine.
withdraw-exempt-no_consumers = This shop sells to businesses only.
withdraw-exempt-no_country = This shop does not sell to the EU.
withdraw-confirm-title = Confirm your withdrawal
withdraw-confirm-heading = Confirm your withdrawal
withdraw-confirm-lede = This is your statement. It counts from the moment you confirm.
withdraw-statement-heading = Statement of withdrawal
withdraw-statement = To { $shop }: I withdraw from my contract for the purchase of the goods in the order below.
withdraw-name-label = Name
withdraw-order-label = Order
withdraw-goods-label = Goods
withdraw-ordered = Ordered
withdraw-email-label = E-mail for the acknowledgement
withdraw-change = Change the statement
withdraw-confirm = Confirm withdrawal
withdraw-done-title = Withdrawal received
withdraw-done-heading = We have received your withdrawal
withdraw-done-lede = The acknowledgement is on its way to <b>{ $email }</b>. Please keep it.
withdraw-unknown-lede = We could not match it to an order by ourselves. It still counts from now, if it is in time. The acknowledgement is on its way to <b>{ $email }</b>.
withdraw-receipt = Acknowledgement of receipt
withdraw-received = Received
withdraw-reference = Reference
withdraw-period = In time
withdraw-in-time = Yes. Your 14 days end on { $day }.
withdraw-in-time-open = Yes. Your 14 days begin when everything has arrived.
withdraw-late-since = Your 14 days ended on { $day }. The shop checks it and writes to you.
withdraw-next-send = Send the items back by <b>{ $day }</b>.
withdraw-next-refund = You get your money by { $day }, or when the shop has the items or your proof that you sent them.
withdraw-next-refund-unsent = You get your money by { $day }.
withdraw-next-gift = The order was a gift, so you may not have the items. The shop writes to you about them and about your money.
withdraw-send = Choose how to send it back
withdraw-other = Return something else
withdraw-person = A person looks for your order and writes to <b>{ $email }</b>. You don’t have to send anything twice.
withdraw-find = Find the order myself
statement-title = Your withdrawal
statement-heading = Your withdrawal
statement-lede = This is the statement that we acknowledged by e-mail, word for word.
statement-onward-heading = Go on with your order
statement-onward-note = To send items back, or to see where they are, find your order with its number and your e-mail or postcode. This page shows nothing of it.
statement-onward = Go to my order
statement-link-over-title = This link no longer works
statement-link-over-heading = This link no longer works
statement-link-over-lede = A link in our e-mails works for 90 days. Your withdrawal counts all the same: the e-mail has its exact content.

## The acknowledgement of a withdrawal
# Legal wording: for review by counsel.

mail-withdrawal-subject = We received your withdrawal, { $moment }
mail-withdrawal-preview = Please keep this e-mail.
mail-withdrawal-heading = We received your withdrawal
mail-withdrawal-lede = This confirms that we received your withdrawal from contract. Please keep this e-mail.
mail-withdrawal-send = Send the items back by { $day }.
mail-withdrawal-send-linked = Send the items back by { $day }. Open your withdrawal below to choose how.
mail-withdrawal-refund = You get your money within 14 days, or when the shop has the items or your proof that you sent them.
mail-withdrawal-refund-unsent = You get your money within 14 days.
mail-withdrawal-gift = The order was a gift, so you may not have the items. The shop writes to you about them and about your money.
mail-withdrawal-person = We could not match your statement to an order by ourselves. It still counts from now, if it is in time. A person looks for your order and writes to you.
mail-withdrawal-button = Open my withdrawal
mail-why-withdrawal = You get this e-mail because of the withdrawal { $reference } at { $shop }.
