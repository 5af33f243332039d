# Español. Words between < and > are markup; values in { } are filled in.

## Every page

language-name = Español
error-title = Error:
error-label = Error:
returns = Devoluciones
skip = Ir al contenido principal
back = Volver
continue = Continuar
language = Idioma:
brand-label = Devoluciones de { $shop }, inicio
support-notice = <bdi>{ $name }</bdi> actúa en nombre del cliente.
help-heading = ¿Necesita ayuda?
help-write = Escriba a
help-call = Llame al
link-shop = Volver a { $shop }
link-privacy = Privacidad
link-terms = Condiciones
write-to-us = Escríbanos.
start-again = Iniciar una devolución
# Legal wording: for review by counsel.
cookie-note = Usamos una cookie para que pueda continuar durante 30 minutos, otra mientras desiste de un contrato y otra si elige un idioma. Sin seguimiento ni publicidad. Backhaul gestiona las devoluciones de { $shop }.
faults-heading = Hay un problema
money = { $amount } { $symbol }
less = −{ $amount }
step = Paso { $step } de 5
step-item = Paso { $step } de 5 · artículo { $item } de { $items }
return-by = Devolución hasta el
return-by-within = devolución hasta el
by-day = Hasta el { $day }
units-of = { $units } de { $quantity }
units = { $units ->
    [one] 1 unidad
   *[other] { $units } unidades
}
price-each = por unidad
free = Gratis

## Finding the order

find-title = Buscar su pedido
find-heading = Devolver o cambiar un artículo
find-lede = Empecemos por buscar su pedido. No hace falta tener una cuenta.
find-number = Número de pedido
find-number-hint = Está en el correo de confirmación.
find-key = Correo electrónico o código postal
find-key-hint = Los que utilizó en este pedido. Basta con uno de los dos.
find-button = Buscar mi pedido
find-number-missing = Introduzca su número de pedido
find-key-missing = Introduzca el correo electrónico o el código postal del pedido
find-miss-heading = No encontramos ese pedido
find-miss = Compruebe el número de pedido y el correo electrónico o código postal
find-miss-note = Los dos datos deben ser del mismo pedido. Suele ayudar:
find-miss-copy = copiar el número del correo de confirmación
find-miss-postcode = probar con el código postal en lugar del correo electrónico
find-miss-wait = esperar unos minutos si acaba de hacer el pedido
find-elsewhere = ¿Lo compró en otro sitio?
find-elsewhere-answer = Solo podemos aceptar devoluciones de lo que se compró en { $shop }. Para lo demás, diríjase a la tienda donde lo compró.

lost-link = ¿No tiene el número? Reciba un enlace por correo electrónico

## A link by e-mail

lost-title = Recibir un enlace por correo electrónico
lost-heading = Recibir un enlace por correo electrónico
lost-lede = Le enviamos un enlace que abre sus pedidos y devoluciones. No hace falta el número de pedido.
lost-email = Correo electrónico del pedido
lost-wrong = Introduzca una dirección de correo electrónico, como nombre@example.com
lost-send = Enviarme un enlace
lost-number = Usar el número de pedido
sent-title = Revise su correo electrónico
sent-heading = Revise su correo electrónico
sent-lede = Si tenemos pedidos de <b>{ $email }</b>, recibirá un enlace en breve. Sirve una sola vez, durante una hora.
sent-nothing = ¿No ha llegado nada en cinco minutos?
sent-spam = Mire en la carpeta de spam o de promociones.
sent-other = ¿Hizo el pedido con otro correo electrónico?
sent-other-try = Pruebe con ese.
sent-number = ¿Tiene a mano el número de pedido?
sent-number-find = Busque el pedido con él.
link-title = Abrir sus pedidos y devoluciones
link-heading = Abrir sus pedidos y devoluciones
link-lede = Su enlace sirve una sola vez. No se da por usado hasta que pulsa «Continuar».
link-why = ¿Por qué un paso más?
link-why-answer = Algunos programas de correo abren todos los enlaces para comprobarlos. Con este paso, el suyo solo se usa cuando usted lo decide.
link-device = ¿El dispositivo no es suyo?
link-device-answer = Cerramos sus pedidos tras 30 minutos sin actividad. Si comparte el dispositivo, cierre la ventana cuando termine.
used-title = Este enlace ya no sirve
used-heading = Este enlace ya no sirve
used-lede = Un enlace sirve una sola vez, durante una hora. Este ya se usó o ha caducado. Sus devoluciones siguen como las dejó.
used-hint = Le enviamos un enlace nuevo.
used-send = Enviarme un enlace nuevo
used-latest = ¿Pidió más de un enlace? Use el del correo más reciente.
orders-title = Sus pedidos
orders-heading = ¿De qué pedido se trata?
orders-open = Continuar con este pedido

## The promises beside the first pages

promises = Devoluciones en { $shop }
promise-window = <b>{ $days } días para decidirse.</b> Desde el día en que enviamos el pedido.
promise-express = <b>Sin impresora y sin caja.</b> Muestre un código en un punto de entrega.
promise-exchange = <b>¿Otra talla?</b> Cámbiela sin coste adicional.

## Choosing

items-title = Elegir artículos
items-heading = ¿Qué desea devolver?
items-lede = Marque lo que va a devolver. Los precios son lo que pagó, con los descuentos aplicados.
items-gift-lede = Esto fue un regalo, por eso no ve precios. Lo que reciba será para usted, y no le diremos nada a quien lo compró.
items-how-many = ¿Cuántas unidades devuelve?
items-none = Marque al menos un artículo
items-partly = { $units ->
    [one] Se puede devolver { $units } de { $quantity }. { $why }
   *[other] Se pueden devolver { $units } de { $quantity }. { $why }
}
items-cannot = Estos artículos no se pueden devolver
items-damaged = ¿Está dañado o no es lo que pidió? Ese caso es distinto.
items-nothing-title = No se puede devolver nada
items-nothing = No se puede devolver nada de este pedido
items-more = Lo que aún puede hacer
items-other = ¿Otro pedido?
items-other-find = Búsquelo aquí.
giftee-label = Su correo electrónico
giftee-hint = Aquí le llegará la tarjeta regalo. No lo compartimos con quien hizo el regalo.
giftee-missing = Introduzca su correo electrónico, por ejemplo nombre@example.com
order-heading = Pedido { $order }
order-placed = Fecha del pedido
order-shipped = Fecha de envío

held-order_cancelled = El pedido se canceló.
held-cancelled = Se canceló antes del envío.
held-not_shipped = Aún no se ha enviado. Vuelva cuando lo haya recibido.
held-refunded = Ya reembolsado.
held-in_return = Ya está en otra devolución.
# Legal wording: for review by counsel.
held-final_sale = Venta final, sin devolución. Así se indicaba al comprarlo.
held-gift = Esto no se puede devolver aquí. Escríbanos y lo revisamos.
# Legal wording: for review by counsel.
held-gift_card = Las tarjetas regalo no se pueden devolver.
held-pickup_in_store = Se recogió en una tienda. Devuélvalo allí.
held-third_party = Lo vendió otra empresa. Pídale a ella la devolución.
# Legal wording: for review by counsel.
held-window_over = El plazo de devolución ha terminado.
# Legal wording: for review by counsel.
held-window_over-on = El plazo de devolución terminó el { $day }.

## Why

reason-title = ¿Por qué lo devuelve?
reason-heading = ¿Por qué lo devuelve?
reason-lede = Nos ayuda a encontrar la mejor opción para usted. No es obligatorio responder.
reason-legend = ¿Por qué devuelve { $title }?
reason-TOO_SMALL = Demasiado pequeño
reason-TOO_LARGE = Demasiado grande
reason-CHANGED_MIND = He cambiado de opinión
reason-NOT_AS_DESCRIBED = No es como se describía
reason-DAMAGED = Dañado o defectuoso
reason-WRONG_ITEM = No es lo que pedí
reason-NOT_GIVEN = Prefiero no decirlo

## What instead

draft-heading = Su devolución

instead-title = ¿Qué prefiere a cambio?
instead-heading = ¿Qué prefiere a cambio?
instead-legend = ¿Qué prefiere a cambio de { $title }?
instead-exchange = Otra talla u otro color
instead-exchanged = Cambio
instead-kept = Se lo queda
instead-exchange-note = Lo pedimos en cuanto confirme. No hay que esperar a que llegue el anterior.
instead-exchange-slow = Ahora mismo no podemos ver qué hay disponible. Sus respuestas quedan guardadas; puede volver a intentarlo en un minuto.
instead-exchange-sold-out = Agotado
instead-exchange-none = Todo lo que podríamos darle a cambio está agotado.
instead-again = Volver a intentarlo
instead-refund = Reembolso
instead-refund-note = Por el mismo medio con el que pagó, cuando lo recibamos.
instead-gift-card = Tarjeta regalo
instead-gift-card-note = Por correo electrónico.
instead-gift-note = Por correo electrónico, cuando nos llegue. Verá el importe al recibirla.
instead-gift-card-bonus = { $worth } por lo que devuelve y <b>{ $bonus } más</b> de nuestra parte. Por correo electrónico.
instead-once = Cada pedido se puede cambiar una sola vez. Haga ahora todos los cambios de este pedido.
instead-none = Elija lo que prefiere a cambio

exchange-title = ¿Cuál prefiere?
exchange-heading = ¿Cuál prefiere?
exchange-variant = Modelo
exchange-note = Mismo precio, nada que pagar. Lo pedimos en cuanto confirme.
exchange-other = No está lo que busco
exchange-none = Elija una opción
exchange-gone = Esta opción se acaba de agotar. Elija otra
sold-out = agotado
in-stock = disponible
left = { $left ->
    [one] queda 1
   *[other] quedan { $left }
}

## How

how-title = ¿Cómo desea devolverlo?
how-heading = ¿Cómo desea devolverlo?
how-keep-heading = ¿Lo devuelve o se lo queda?
how-lede-fee = Todo se devuelve junto. Si hay un coste, se descuenta del reembolso, así que ahora no paga nada.
how-express-returns = Llevarlo a un punto de entrega
how-express-returns-note = Muestre un código en el mostrador. Allí lo empaquetan y lo etiquetan.
how-mail-back = Enviarlo con una etiqueta
how-mail-back-note = Póngalo en una caja, pegue la etiqueta y entréguelo al transportista.
how-customer-keep = Quedárselo
how-customer-keep-note = Úselo, regálelo o recíclelo. Recibirá su dinero igualmente.
how-none = Elija cómo desea devolverlo
fact-no-printer = Sin impresora
fact-no-box = Sin caja
fact-printer = Hace falta impresora
fact-box = Hace falta una caja
fact-nothing = Nada que enviar

## Check and confirm

check-title = Revise antes de confirmar
check-heading = Revise antes de confirmar
check-reason = Motivo
check-instead = A cambio
check-change = Modificar
check-change-reason = el motivo de
check-change-instead = lo que recibe por
check-change-way = la forma de devolución
check-exchange = Cambio por { $variant }
check-refund = Reembolso por el mismo medio con el que pagó
check-gift = Tarjeta regalo por su valor
check-gift-lede = No le diremos nada de esta devolución a quien lo compró.
check-gift-amount = Una tarjeta regalo por el valor de los artículos. Verá el importe al recibirla.
check-giftee = La recibirá en
check-change-giftee = su correo electrónico
check-way = Forma de devolución
check-fee = Coste
check-new-goes = El artículo nuevo se envía a
check-new-address = La dirección del pedido
check-bill = Su reembolso
check-gets = Lo que recibe
check-estimate = Es una estimación hasta que revisemos los artículos.
check-until = Después tendrá tiempo para entregarlo hasta el
check-confirm = Confirmar la devolución
check-confirming = Confirmando…
check-items = Modificar artículos
bill-caption = Reembolso estimado, línea por línea
bill-units = { $title }, { $units } unidades
bill-price = Precio
bill-discount = Descuentos
bill-tax = Impuestos
bill-exchanged = Cambio por el mismo precio
bill-fee = Coste de la devolución
bill-total = Reembolso estimado
bill-gift-card = Tarjeta regalo
bill-gift-card-bonus = Tarjeta regalo, con { $bonus } más

changed-title = Algo ha cambiado
changed-not-started = No hemos iniciado la devolución
changed-heading = Algo ha cambiado
changed-lede = El resto de sus respuestas sigue igual.
changed-chose = Su elección
changed-now = Ahora
changed-item = { $title }: { $now }
changed-none = Esto ya no se puede devolver. { $why }
changed-fewer = { $units ->
    [one] Ya solo se puede devolver { $units } de { $quantity }. { $why }
   *[other] Ya solo se pueden devolver { $units } de { $quantity }. { $why }
}
changed-sold-out = Se acaba de agotar.
changed-slow = Ahora mismo no podemos ver qué hay disponible.
changed-exchanged = Este pedido ya se cambió, y solo es posible una vez.
changed-no-exchange = Ya no es posible.
changed-exchange = Cambio por { $variant }
changed-see-all = Ver todo lo disponible
changed-way = La forma de devolución que eligió ya no es posible. Elija otra en la página siguiente.

## Done

done-title = Su devolución está confirmada
done-heading = Su devolución está confirmada
done-show-code = Muestre esto en el mostrador
done-code-alt = El código QR de su devolución
done-say-code = o diga este código
done-number = Su número de devolución
done-parcel = Número de paquete
done-drop-until = Entregar hasta el
done-send-until = Enviar hasta el
done-until = Entregar hasta el
done-items = Artículos
done-cost-label = Coste
done-cost = { $amount }
done-cost-deducted = { $amount }, que se descuenta del reembolso
done-label = Abrir la etiqueta (PDF)
done-show = Volver a comprobar
done-follow = Seguir esta devolución
done-pending-code = Estamos creando su código.
done-pending-label = Estamos creando su etiqueta.
done-pending-note = Tarda unos segundos. Puede volver a esta página en cualquier momento.
done-unlabelled = Su etiqueta todavía no está lista.
done-unlabelled-note = La tienda la prepara y luego aparece en esta página. Vuelva más tarde o escríbanos.
done-refused-title = Su devolución está confirmada, sin etiqueta
done-refused-heading = Su devolución está confirmada, pero el transportista no emite la etiqueta
done-refused-lede = El transportista no ha querido emitir una etiqueta para la dirección de este pedido. Elija otra forma de devolución o escríbanos.
done-another = Elegir otra forma de devolución
done-kept-heading = Todo listo. Puede quedárselo
done-kept-lede = No hay nada que enviar.
done-kept-refund = Reembolso por el mismo medio con el que pagó
next-heading = Próximos pasos
next-drop-off = Lleve todo a un punto de entrega como muy tarde el <b>{ $day }</b>. No hace falta caja.
next-send = Ponga todo en una caja, pegue la etiqueta y envíela como muy tarde el <b>{ $day }</b>. Guarde el resguardo.
next-drop-off-open = Lleve todo a un punto de entrega. No hace falta caja.
next-send-open = Ponga todo en una caja, pegue la etiqueta y envíela. Guarde el resguardo.
next-exchange = { $what ->
    [card] Pedimos su tarjeta regalo <b>ahora mismo</b>. Le llegará por correo electrónico.
    [both] Pedimos el artículo nuevo y su tarjeta regalo <b>ahora mismo</b>.
   *[goods] Pedimos el artículo nuevo <b>ahora mismo</b>.
}
next-exchange-placed = { $what ->
    [card] Su tarjeta regalo ya está <b>pedida</b>. Le llegará por correo electrónico.
    [both] El artículo nuevo y su tarjeta regalo ya están <b>pedidos</b>.
   *[goods] El artículo nuevo ya está <b>pedido</b>.
}
next-refund = { $gift ->
    [yes] Cuando nos llegue, recibirá una <b>tarjeta regalo</b> por correo electrónico.
   *[no] Cuando nos llegue, recibirá un reembolso de unos <b>{ $amount }</b>, por el mismo medio con el que pagó.
}

postcode-title = Introduzca el código postal
postcode-heading = Introduzca el código postal para ver la etiqueta
postcode-lede = En la etiqueta figuran un nombre y una dirección. Por eso lo pedimos antes.
postcode = Código postal
postcode-hint = El de la dirección a la que se envió el pedido.
postcode-show = Mostrar la etiqueta
postcode-miss = Compruebe el código postal
postcode-not-needed = No necesita la etiqueta para ver dónde está su devolución.

## Where it is

returns-title = Sus devoluciones
returns-heading = { $returns ->
    [one] Tiene una devolución de este pedido
   *[other] Tiene { $returns } devoluciones de este pedido
}
returns-see = Ver esta devolución
returns-more = Devolver algo más
returns-refund = Unos { $amount }, cuando lo recibamos
status-title = Dónde está su devolución
status-return = Devolución
status-ticket-express-returns = Mostrar mi código
status-ticket-mail-back = Mostrar la etiqueta
status-again = Iniciar otra devolución
status-bill = Cómo se calcula su reembolso
status-help = Ayuda con esta devolución
status-mention = e indique
status-cancel = Cancelar esta devolución
status-too-late = Esta devolución ya no se puede cancelar porque está en camino.
status-exchanged = Esta devolución no se puede cancelar porque lo que recibe a cambio ya está pedido.

status-waiting-heading = Pendiente de que lo envíe
status-waiting-drop-heading = Pendiente de que lo entregue
status-waiting-lede = Tiene tiempo hasta el { $day }.
status-sold-out-heading = Agotado. Recibirá un reembolso en su lugar
status-dropped-off-heading = Entregado en el punto
status-dropped-off-lede = Pronto estará en camino hacia nosotros.
status-on-its-way-heading = Su paquete está en camino hacia nosotros
status-on-its-way-lede = No tiene que hacer nada más.
status-arrived-heading = Hemos recibido su paquete
status-arrived-lede = Ahora revisaremos los artículos.
status-coming-back-heading = Le están devolviendo el paquete
status-coming-back-lede = El transportista no pudo entregárnoslo. No es culpa suya. Escríbanos cuando lo tenga.
status-trouble-heading = El transportista tiene un problema con su paquete
status-trouble-lede = No es culpa suya. Estamos siguiendo el caso.
status-refunded-heading = Su devolución ha terminado
status-refunded-lede = { $gift ->
    [yes] Le hemos enviado lo que le corresponde.
   *[no] Le hemos reembolsado { $amount }, por el mismo medio con el que pagó.
}
status-partly-heading = Hemos reembolsado una parte
status-partly-lede = { $gift ->
    [yes] Le hemos enviado una parte.
   *[no] Hasta ahora: { $amount }, por el mismo medio con el que pagó.
}
status-kept-heading = Puede quedárselo
status-kept-lede = { $gift ->
    [yes] Recibirá una tarjeta regalo por correo electrónico.
   *[no] Recibirá un reembolso de { $amount }, por el mismo medio con el que pagó.
}
status-cancelled-heading = Esta devolución está cancelada
status-cancelled-lede = Se queda con los artículos. El código ya no sirve.
status-expired-heading = Esta devolución ha caducado
status-expired-lede = No recibimos los artículos a tiempo, así que la devolución se cerró.

chip-waiting = Pendiente de entregar
chip-dropped-off = Entregado en el punto
chip-on-its-way = En camino hacia nosotros
chip-arrived = Recibido
chip-coming-back = De vuelta hacia usted
chip-trouble = Problema en el camino
chip-refunded = Terminada
chip-partly = Reembolso parcial
chip-kept = Se lo queda
chip-cancelled = Cancelada
chip-expired = Caducada
unit-refunded = Reembolsado
unit-not-arrived = No ha llegado
unit-exchanged = Cambiado
unit-waiting = Aún sin reembolsar
partly-units = Unidad por unidad
sold-out-changes = Qué cambia
sold-out-refund = Lo que eligió a cambio estaba agotado cuando lo pedimos. Recibirá un reembolso, por el mismo medio con el que pagó. No tiene que hacer nada más.

time-heading = Qué ha pasado
time-done = Hecho:
time-now = Ahora:
time-todo = Pendiente:
time-bad = Problema:
time-exchange-pending = { $what ->
    [card] Estamos pidiendo su tarjeta regalo
    [both] Estamos pidiendo el artículo nuevo y su tarjeta regalo
   *[goods] Estamos pidiendo el artículo nuevo
}
time-drop-off = Entréguelo
time-send = Envíelo
time-arrives = Recibimos su paquete
time-refund-about = { $gift ->
    [yes] Tarjeta regalo
   *[no] Reembolso de unos { $amount }
}
time-refund-note = { $gift ->
    [yes] Por correo electrónico
   *[no] Por el mismo medio con el que pagó
}
time-refunded-amount = { $gift ->
    [yes] Enviado a usted
   *[no] { $amount } reembolsados
}
event-confirmed = Devolución confirmada
event-code-made = Código creado
event-label-made = Etiqueta creada
event-dropped-off = Entregado en el punto
event-on-its-way = En camino
event-arrived = Hemos recibido su paquete
event-received = Hemos recibido sus artículos
event-coming-back = No se pudo entregar, vuelve hacia usted
event-trouble = Problema con el transportista
event-cancelled = Cancelada
event-expired = Cerrada, no recibimos nada
event-exchange-placed = { $what ->
    [card] Su tarjeta regalo está pedida
    [both] El artículo nuevo y su tarjeta regalo están pedidos
   *[goods] El artículo nuevo está pedido
}
event-exchange-converted = El cambio no es posible

cancel-title = ¿Cancelar esta devolución?
cancel-heading = ¿Cancelar esta devolución?
cancel-code = El código
cancel-code-stops = dejará de servir. No entregue nada con él.
cancel-keep = Se queda con los artículos. No hay reembolso ni coste.
cancel-again = Puede empezar de nuevo mientras los artículos se puedan devolver.
cancel-yes = Sí, cancelarla
cancel-no = No, mantener la devolución
cancel-late-title = Ya no se puede cancelar
cancel-late-heading = Ya no se puede cancelar
cancel-late-lede = Ya está en camino. Su devolución sigue según lo previsto.
cancel-late-see = Ver la devolución

## Trouble

missing-title = Página no encontrada
missing-heading = No encontramos esta página
missing-lede = Puede que el enlace esté incompleto o sea demasiado antiguo. Sus pedidos y devoluciones están a salvo.
missing-nowhere = Use el enlace de la confirmación de su pedido o el de las páginas de la tienda.
foreign-title = Este formulario no se puede usar
foreign-heading = Este formulario no se puede usar
foreign-lede = No procede de nuestras páginas o está incompleto. No se ha cambiado nada. Empiece por la primera página.
gone-title = Esto ya no está disponible
gone-heading = Esto ya no está disponible
gone-lede = Las etiquetas se borran a los 90 días. Su devolución sigue como estaba.
trouble-title = Algo ha fallado por nuestra parte
trouble-heading = Algo ha fallado por nuestra parte
trouble-lede = No es culpa suya. Sus respuestas quedan guardadas y nada se ha enviado dos veces.
trouble-again = Volver a intentarlo
trouble-mention = Si nos escribe, indique este número:
busy-title = Demasiados intentos
busy-heading = Hagamos una breve pausa
busy-lede = Ha habido demasiados intentos desde aquí. Así protegemos sus pedidos de quienes prueban al azar.
busy-until = Podrá volver a intentarlo a partir del { $time }.
over-title = Ha estado ausente un rato
over-heading = Ha estado ausente un rato
over-lede = Después de 30 minutos cerramos su pedido, para que nadie más pueda verlo en este dispositivo. No se ha enviado nada.
over-kept = Busque de nuevo su pedido y continúe donde estaba. Hemos guardado lo que eligió.
over-go-on = Continuar

## The page of a link in a mail about a return

return-link-title = Abrir su devolución
return-link-heading = Abrir su devolución
return-link-lede = Este enlace muestra la devolución { $rma } y nada más. Pulse «Continuar» para abrirla.
return-link-why-answer = Algunos programas de correo abren todos los enlaces para comprobarlos. Con este paso, su devolución solo se abre cuando usted lo decide.
return-link-device-answer = Cerramos su devolución tras 30 minutos sin actividad. Si comparte el dispositivo, cierre la ventana cuando termine.
return-link-over-title = Este enlace ya no sirve
return-link-over-heading = Este enlace ya no sirve
return-link-over-lede = Los enlaces de nuestros correos sirven durante 90 días. Su devolución sigue como la dejó: búsquela con el número de su pedido.
shop-link-over-title = Este enlace ya no sirve
shop-link-over-heading = Este enlace ya no sirve
shop-link-over-lede = Un enlace de la tienda sirve una sola vez, durante diez minutos. Vuelva a la tienda e inténtelo de nuevo, o busque su pedido con su número.
one-return-title = Busque primero su pedido
one-return-heading = Busque primero su pedido
one-return-lede = El enlace de su correo muestra una sola devolución. Para ver todo el pedido, búsquelo con su número.

## Mails
## Every text may use: shop, name, rma, order, method (mail-back, express-returns or customer-keep), units, date and moment (of the news),
## weekday, day and days (until the goods must be handed over), what (goods, card or both), new_order, refunded, to_come, fee.

mail-hello = Hola, { $name }:
mail-hello-nobody = Hola:
mail-code = Su número de devolución
mail-code-over = { $rma }. Ya no sirve, así que no envíe nada con él.
mail-goods = { $units ->
    [one] El artículo
   *[other] Los artículos
}
mail-until = { $method ->
    [express-returns] Entregar hasta el
   *[mail-back] Enviar hasta el
}
mail-until-day = { $weekday }
mail-tracking-number = Número de paquete
mail-estimated = Reembolso estimado
mail-to-come = Pendiente de reembolso
mail-amount-refunded = { $refunded }
mail-amount-to-come = Unos { $to_come }, por el mismo medio con el que pagó
mail-amount-after-fee = Unos { $to_come }, por el mismo medio con el que pagó. El coste de { $fee } está descontado.
mail-questions-answer = ¿Tiene preguntas? Responda a este correo.
mail-questions-shop = ¿Tiene preguntas? Consulte a { $shop }.
mail-why = Recibe este correo por la devolución { $rma } del pedido { $order }.
mail-why-gift = Recibe este correo por la devolución { $rma }.
mail-why-link = Recibe este correo porque alguien introdujo su dirección en la página de devoluciones de { $shop }.
mail-no-advertising = Este correo no es publicidad, así que no hay suscripción que cancelar. No contiene nada que le rastree.

mail-confirmed-subject = { $method ->
    [express-returns] Su devolución está confirmada: puede entregarla hasta el { $day }
    [customer-keep] Su devolución está confirmada
   *[mail-back] Su devolución está confirmada: puede enviarla hasta el { $day }
}
mail-confirmed-subject-open = Su devolución está confirmada
mail-confirmed-preview = Lo que devuelve y los próximos pasos.
mail-confirmed-heading = Su devolución está confirmada
mail-confirmed-lede = { $method ->
    [express-returns] { $units ->
        [one] Gracias. Puede entregar el artículo hasta el { $weekday }.
       *[other] Gracias. Puede entregar los { $units } artículos hasta el { $weekday }.
    }
    [customer-keep] Gracias. No hay nada que enviar.
   *[mail-back] { $units ->
        [one] Gracias. Puede enviar el artículo hasta el { $weekday }.
       *[other] Gracias. Puede enviar los { $units } artículos hasta el { $weekday }.
    }
}
mail-confirmed-lede-open = { $method ->
    [express-returns] { $units ->
        [one] Gracias. Entregue el artículo cuando le venga bien.
       *[other] Gracias. Entregue los { $units } artículos cuando le venga bien.
    }
    [customer-keep] Gracias. No hay nada que enviar.
   *[mail-back] { $units ->
        [one] Gracias. Envíe el artículo cuando le venga bien.
       *[other] Gracias. Envíe los { $units } artículos cuando le venga bien.
    }
}
mail-confirmed-button = Abrir mi devolución
mail-confirmed-label = { $method ->
    [express-returns] Abra su devolución para ver su código. Si tarda más de diez minutos, le escribiremos de nuevo.
   *[mail-back] Abra su devolución para obtener la etiqueta. Si tarda más de diez minutos, le escribiremos de nuevo.
}
mail-confirmed-label-unlinked = { $method ->
    [express-returns] Espere a recibir su código. Le escribiremos de nuevo cuando esté listo.
   *[mail-back] Espere a recibir su etiqueta. Le escribiremos de nuevo cuando esté lista.
}
mail-confirmed-label-of-shop = La tienda prepara su etiqueta. Cuando esté lista, abra su devolución para obtenerla.
mail-confirmed-send = { $method ->
    [express-returns] Lleve todo a un punto de entrega. No hace falta caja.
   *[mail-back] Ponga todo en una caja, pegue la etiqueta y envíela. Guarde el resguardo.
}
mail-confirmed-exchange = { $what ->
    [card] Pedimos su tarjeta regalo ahora mismo. Le avisaremos cuando esté pedida.
    [both] Pedimos el artículo nuevo y su tarjeta regalo ahora mismo. Le avisaremos cuando estén pedidos.
   *[goods] Pedimos el artículo nuevo ahora mismo. Le avisaremos cuando esté pedido.
}
mail-confirmed-refund = { $method ->
    [customer-keep] Recibirá su reembolso, y un correo en cuanto lo hagamos.
   *[other] Cuando nos llegue, recibirá su reembolso y un correo para avisarle.
}

mail-label-ready-subject = { $method ->
    [express-returns] Su código de entrega está listo
   *[mail-back] Su etiqueta de devolución está lista
}
mail-label-ready-preview = { $method ->
    [express-returns] Muéstrelo en un punto de entrega.
   *[mail-back] Imprímala, péguela y envíe el paquete.
}
mail-label-ready-heading = { $method ->
    [express-returns] Su código está listo
   *[mail-back] Su etiqueta está lista
}
mail-label-ready-lede = { $method ->
    [express-returns] Su devolución ya tiene su código. Muéstrelo en un punto de entrega; no hace falta caja.
   *[mail-back] Su devolución ya tiene su etiqueta. En ella figura una dirección, por eso la página pide antes el código postal.
}
mail-label-ready-button = { $method ->
    [express-returns] Mostrar mi código
   *[mail-back] Obtener la etiqueta
}
mail-label-ready-steps = Cómo enviarlo
mail-label-ready-box = Ponga todo en una caja.
mail-label-ready-stick = Pegue la etiqueta. Tape las etiquetas antiguas.
mail-label-ready-keep = Guarde el resguardo hasta que reciba su reembolso.

mail-on-its-way-subject = Su devolución está en camino
mail-on-its-way-preview = No tiene que hacer nada más.
mail-on-its-way-heading = Su devolución está en camino
mail-on-its-way-lede = El transportista tiene su devolución desde el { $date }. No tiene que hacer nada más.
mail-on-its-way-button = Seguir mi devolución

mail-reminder-subject = { $method ->
    [express-returns] { $days ->
        [one] Queda un día para entregar su devolución
       *[other] Quedan { $days } días para entregar su devolución
    }
   *[mail-back] { $days ->
        [one] Queda un día para enviar su devolución
       *[other] Quedan { $days } días para enviar su devolución
    }
}
mail-reminder-preview = Aún no ha llegado al transportista.
mail-reminder-heading = { $method ->
    [express-returns] { $days ->
        [one] Queda un día para entregarla
       *[other] Quedan { $days } días para entregarla
    }
   *[mail-back] { $days ->
        [one] Queda un día para enviarla
       *[other] Quedan { $days } días para enviarla
    }
}
mail-reminder-lede = Todavía no nos consta su devolución. Tiene tiempo hasta el { $weekday }. Después, la devolución se cerrará y no se reembolsará nada.
mail-reminder-button = Abrir mi devolución
mail-reminder-sent = { $method ->
    [express-returns] ¿Ya la ha entregado? Entonces ignore este correo. Puede tardar hasta dos días en constarnos.
   *[mail-back] ¿Ya la ha enviado? Entonces ignore este correo. Puede tardar hasta dos días en constarnos.
}
mail-reminder-keep = ¿Prefiere quedárselo? Entonces no tiene que hacer nada. No le enviaremos más recordatorios.

mail-refunded-subject = Le hemos reembolsado { $refunded }
mail-refunded-subject-gift = Su devolución ha terminado
mail-refunded-preview = Puede tardar unos días en aparecer en su cuenta.
mail-refunded-heading = Le hemos reembolsado { $refunded }
mail-refunded-heading-gift = Su devolución ha terminado
mail-refunded-lede = Hemos hecho el reembolso por el mismo medio con el que pagó. Puede tardar unos días en aparecer en su cuenta.
mail-refunded-lede-gift = { $shop } ha cerrado su devolución. Recibirá una tarjeta regalo por correo electrónico.
mail-refunded-row = Reembolsado
mail-refunded-button = Ver mi devolución

mail-cancelled-subject = Su devolución está cancelada
mail-cancelled-preview = No envíe nada con ella.
mail-cancelled-heading = Su devolución está cancelada
mail-cancelled-lede = { $units ->
    [one] Esta devolución se canceló el { $moment }. Se queda con el artículo y no se le ha cobrado nada.
   *[other] Esta devolución se canceló el { $moment }. Se queda con los artículos y no se le ha cobrado nada.
}
mail-cancelled-lede-by-shopper = { $units ->
    [one] Usted canceló esta devolución el { $moment }. Se queda con el artículo y no se le ha cobrado nada.
   *[other] Usted canceló esta devolución el { $moment }. Se queda con los artículos y no se le ha cobrado nada.
}
mail-cancelled-button = Ver mi devolución
mail-cancelled-not-you = ¿No fue usted? Responda a este correo.

mail-expired-subject = Su devolución ha caducado
mail-expired-preview = No recibimos nada a tiempo.
mail-expired-heading = Su devolución ha caducado
mail-expired-lede = Tenía tiempo hasta el { $weekday }. No recibimos nada, así que hemos cerrado la devolución. No se le ha cobrado nada y no se le reembolsará nada.
mail-expired-steps = Qué puede hacer
mail-expired-sent = ¿Ya lo ha enviado? Escriba a { $shop } y adjunte el resguardo, para que busquen el paquete.
mail-expired-again = ¿Todavía quiere devolverlo? Compruebe en el portal de devoluciones si aún se puede devolver.
mail-expired-happy = ¿Prefiere quedárselo? No tiene que hacer nada.
mail-expired-button = Ver mi devolución

mail-exchange-placed-subject = { $what ->
    [card] Hemos pedido su tarjeta regalo
    [both] Hemos pedido su artículo nuevo y su tarjeta regalo
   *[goods] Hemos pedido su artículo nuevo
}
mail-exchange-placed-preview = No hay nada que pagar.
mail-exchange-placed-heading = { $what ->
    [card] Hemos pedido su tarjeta regalo
    [both] Hemos pedido su artículo nuevo y su tarjeta regalo
   *[goods] Hemos pedido su artículo nuevo
}
mail-exchange-placed-lede = No hay nada que pagar.
mail-exchange-placed-order = El número del nuevo pedido es { $new_order }.
mail-exchange-placed-old = { $method ->
    [express-returns] Le queda por entregar lo que devuelve. Si ya lo ha hecho, no tiene que hacer nada más.
   *[mail-back] Le queda por enviar lo que devuelve. Si ya lo ha hecho, no tiene que hacer nada más.
}
mail-exchange-placed-button = Ver mi devolución

mail-exchange-sold-out-subject = Agotado: recibirá un reembolso en su lugar
mail-exchange-sold-out-preview = Hemos convertido su cambio en un reembolso.
mail-exchange-sold-out-heading = Agotado. Recibirá un reembolso en su lugar
mail-exchange-sold-out-lede = Lo sentimos: lo que eligió ya no se pudo pedir. Hemos convertido el cambio en un reembolso.
mail-exchange-sold-out-button = Ver mi devolución
mail-exchange-sold-out-keep = ¿Prefiere quedarse con lo que tiene? Puede cancelar la devolución hasta que la entregue.

mail-sign-in-link-subject = Su enlace a sus pedidos y devoluciones
mail-sign-in-link-preview = Sirve una sola vez, durante una hora.
mail-sign-in-link-heading = Abrir sus pedidos y devoluciones
mail-sign-in-link-lede = Este es el enlace que ha pedido. Sirve una sola vez, durante una hora.
mail-sign-in-link-button = Abrir mis pedidos y devoluciones
mail-sign-in-link-continue = La página le pide que pulse «Continuar». Solo entonces se usa el enlace.
mail-sign-in-link-unasked = ¿No lo ha pedido? Entonces ignore este correo. Nadie puede ver sus pedidos sin el enlace, así que no lo comparta.

## Withdrawing from a contract
# Legal wording, all of this part: for review by counsel.

withdraw-link = Desistir del contrato aquí
withdraw-link-note = Para pedidos de la UE, en un plazo de 14 días, sin dar motivos.
withdraw-title = Desistir del contrato
withdraw-heading = Desistir del contrato
withdraw-lede = No tiene que dar ningún motivo. En la página siguiente podrá revisarlo todo antes de confirmar.
withdraw-name = Su nombre
withdraw-name-missing = Introduzca su nombre
withdraw-order-hint = O qué pidió y cuándo, si no lo encuentra.
withdraw-order-missing = Introduzca el número de pedido, o qué pidió y cuándo
withdraw-email = Correo electrónico
withdraw-email-hint = Le enviaremos aquí el acuse de recibo.
withdraw-what = ¿A qué afecta el desistimiento?
withdraw-all = El pedido completo
withdraw-all-of = El pedido completo: { $goods }
withdraw-some = Algunos artículos
withdraw-late = ¿Lo recibió hace más de 14 días? Envíe la declaración igualmente y lo comprobaremos.
withdraw-late-return = O inicie una devolución normal.
withdraw-side-heading = ¿Desistimiento o devolución?
withdraw-side-right = <b>El desistimiento</b> es un derecho que la ley le reconoce en la UE. Deja sin efecto todo el contrato o una parte, sin dar motivos, en los 14 días siguientes a la entrega.
withdraw-side-offer = <b>La devolución</b> es una opción que ofrece la tienda. Tiene { $days } días desde el envío y quizá pueda cambiar el artículo.
withdraw-side-both = En ambos casos usted devuelve los artículos y nosotros le reembolsamos.
withdraw-goods-title = ¿Qué artículos?
withdraw-goods-heading = ¿De qué artículos desiste?
withdraw-goods-lede = En la página siguiente podrá revisarlo todo antes de confirmar.
withdraw-goods-none = Elija al menos un artículo, o el pedido completo
withdraw-goods-all = Elegir el pedido completo
withdraw-goods-words = Los artículos
withdraw-goods-words-hint = Con sus propias palabras.
withdraw-goods-missing = Indique de qué artículos desiste
withdraw-exempt-heading = Artículos sin derecho de desistimiento
withdraw-exempt-made_to_order = Se hizo a medida para usted.
withdraw-exempt-perishable = Se estropea o caduca con rapidez.
withdraw-exempt-hygiene = Estaba precintado por motivos de salud o higiene y, una vez abierto, no se puede devolver.
withdraw-exempt-mixed = Tras la entrega se mezcla con otros artículos y ya no se puede separar.
withdraw-exempt-alcohol = Su precio se acordó mucho antes de la entrega y depende del mercado.
withdraw-exempt-recording = Es una grabación o un programa precintado y, una vez abierto, no se puede devolver.
withdraw-exempt-press = Es un periódico o una revista.
withdraw-exempt-no_consumers = Esta tienda vende solo a empresas.
withdraw-exempt-no_country = Esta tienda no vende en la UE.
withdraw-confirm-title = Confirme su desistimiento
withdraw-confirm-heading = Confirme su desistimiento
withdraw-confirm-lede = Esta es su declaración. Surte efecto desde el momento en que la confirma.
withdraw-statement-heading = Declaración de desistimiento
withdraw-statement = A { $shop }: por la presente comunico que desisto del contrato de compraventa de los bienes del pedido que figura a continuación.
withdraw-name-label = Nombre
withdraw-order-label = Pedido
withdraw-goods-label = Bienes
withdraw-ordered = Fecha del pedido
withdraw-email-label = Correo para el acuse de recibo
withdraw-change = Modificar la declaración
withdraw-confirm = Confirmar el desistimiento
withdraw-done-title = Desistimiento recibido
withdraw-done-heading = Hemos recibido su desistimiento
withdraw-done-lede = Le enviamos el acuse de recibo a <b>{ $email }</b>. Guárdelo.
withdraw-unknown-lede = No hemos podido asociarlo a ningún pedido. Aun así, surte efecto desde ahora, si está dentro del plazo. Le enviamos el acuse de recibo a <b>{ $email }</b>.
withdraw-receipt = Acuse de recibo
withdraw-received = Recibido
withdraw-reference = Referencia
withdraw-period = Dentro del plazo
withdraw-in-time = Sí. Su plazo de 14 días termina el { $day }.
withdraw-in-time-open = Sí. Su plazo de 14 días empezará cuando haya llegado todo.
withdraw-late-since = Su plazo de 14 días terminó el { $day }. La tienda lo comprobará y le escribirá.
withdraw-next-send = Devuelva los artículos como muy tarde el <b>{ $day }</b>.
withdraw-next-refund = Recibirá su dinero como muy tarde el { $day }, o cuando la tienda tenga los artículos o su justificante de envío.
withdraw-next-refund-unsent = Recibirá su dinero como muy tarde el { $day }.
withdraw-next-gift = El pedido fue un regalo, así que es posible que no tenga los artículos. La tienda le escribirá para explicarle qué ocurre con ellos y con su dinero.
withdraw-send = Elegir cómo devolver los artículos
withdraw-other = Devolver otra cosa
withdraw-person = Buscaremos su pedido y le escribiremos a <b>{ $email }</b>. No tiene que volver a enviar nada.
withdraw-find = Buscar el pedido por mi cuenta
statement-title = Su desistimiento
statement-heading = Su desistimiento
statement-lede = Esta es, palabra por palabra, la declaración cuya recepción le confirmamos por correo electrónico.
statement-onward-heading = Continuar con su pedido
statement-onward-note = Para devolver los artículos o ver dónde están, busque su pedido con el número y su correo electrónico o código postal. Esta página no muestra nada del pedido.
statement-onward = Ir a mi pedido
statement-link-over-title = Este enlace ya no sirve
statement-link-over-heading = Este enlace ya no sirve
statement-link-over-lede = Los enlaces de nuestros correos sirven durante 90 días. Su desistimiento sigue siendo válido: el correo recoge su contenido exacto.

## The acknowledgement of a withdrawal
# Legal wording: for review by counsel.

mail-withdrawal-subject = Hemos recibido su desistimiento, { $moment }
mail-withdrawal-preview = Guarde este correo.
mail-withdrawal-heading = Hemos recibido su desistimiento
mail-withdrawal-lede = Confirmamos que hemos recibido su desistimiento del contrato. Guarde este correo.
mail-withdrawal-send = Devuelva los artículos como muy tarde el { $day }.
mail-withdrawal-send-linked = Devuelva los artículos como muy tarde el { $day }. Abra su desistimiento más abajo para elegir cómo.
mail-withdrawal-refund = Recibirá su dinero en un plazo de 14 días, o cuando la tienda tenga los artículos o su justificante de envío.
mail-withdrawal-refund-unsent = Recibirá su dinero en un plazo de 14 días.
mail-withdrawal-gift = El pedido fue un regalo, así que es posible que no tenga los artículos. La tienda le escribirá para explicarle qué ocurre con ellos y con su dinero.
mail-withdrawal-person = No hemos podido asociar su declaración a ningún pedido. Aun así, surte efecto desde ahora, si está dentro del plazo. Buscaremos su pedido y le escribiremos.
mail-withdrawal-button = Abrir mi desistimiento
mail-why-withdrawal = Recibe este correo por el desistimiento { $reference } en { $shop }.
