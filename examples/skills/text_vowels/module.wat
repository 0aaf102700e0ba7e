;; Counts the vowels of a text. Payload: {"text":"..."}, as canonical JSON. Output: {"vowels":N}.
(module
  (memory (export "memory") 1)

  ;; Where the payload goes: everything from 1024 on is free.
  (global $free (mut i32) (i32.const 1024))

  (data (i32.const 0) "{\"text\":\"")
  (data (i32.const 16) "{\"vowels\":")

  ;; alloc(length) -> place. One payload a call, and each call gets a new instance: nothing is ever freed.
  (func (export "alloc") (param $length i32) (result i32)
    (local $place i32) (local $missing i32)
    (local.set $place (global.get $free))
    (global.set $free (i32.add (local.get $place) (local.get $length)))
    ;; Pages that are missing, with 64 bytes for the output. A growth beyond the limit ends the call.
    (local.set $missing
      (i32.sub
        (i32.shr_u (i32.add (global.get $free) (i32.const 65599)) (i32.const 16))
        (memory.size)))
    (if (i32.gt_s (local.get $missing) (i32.const 0))
      (then (drop (memory.grow (local.get $missing)))))
    (local.get $place))

  ;; Whether the payload begins with {"text":" and ends with "}.
  (func $fits (param $place i32) (param $end i32) (result i32)
    (local $at i32)
    (if (i32.lt_u (i32.sub (local.get $end) (local.get $place)) (i32.const 11))
      (then (return (i32.const 0))))
    (loop $next
      (if (i32.ne
            (i32.load8_u (local.get $at))
            (i32.load8_u (i32.add (local.get $place) (local.get $at))))
        (then (return (i32.const 0))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 9))))
    ;; 0x7d22 is "} as a little-endian number.
    (i32.eq (i32.load16_u (i32.sub (local.get $end) (i32.const 2))) (i32.const 0x7d22)))

  (func $is_vowel (param $byte i32) (result i32)
    (local.set $byte (i32.or (local.get $byte) (i32.const 32)))
    (i32.or
      (i32.or
        (i32.eq (local.get $byte) (i32.const 97))
        (i32.eq (local.get $byte) (i32.const 101)))
      (i32.or
        (i32.eq (local.get $byte) (i32.const 105))
        (i32.or
          (i32.eq (local.get $byte) (i32.const 111))
          (i32.eq (local.get $byte) (i32.const 117))))))

  ;; Writes {"vowels":N} and gives place << 32 | length.
  (func $answer (param $count i32) (result i64)
    (local $at i32) (local $digits i32) (local $rest i32)
    (local.set $rest (local.get $count))
    (loop $more
      (local.set $digits (i32.add (local.get $digits) (i32.const 1)))
      (local.set $rest (i32.div_u (local.get $rest) (i32.const 10)))
      (br_if $more (local.get $rest)))
    (local.set $at (i32.add (i32.const 26) (local.get $digits)))
    (i32.store8 (local.get $at) (i32.const 125))
    (loop $digit
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (i32.store8 (local.get $at) (i32.add (i32.const 48) (i32.rem_u (local.get $count) (i32.const 10))))
      (local.set $count (i32.div_u (local.get $count) (i32.const 10)))
      (br_if $digit (i32.gt_u (local.get $at) (i32.const 26))))
    (i64.or
      (i64.shl (i64.const 16) (i64.const 32))
      (i64.extend_i32_u (i32.add (local.get $digits) (i32.const 11)))))

  ;; run(place, length) -> place << 32 | length of the output, or -1: the payload is unfit.
  (func (export "run") (param $place i32) (param $length i32) (result i64)
    (local $at i32) (local $end i32) (local $byte i32) (local $count i32)
    (local.set $end (i32.add (local.get $place) (local.get $length)))
    (if (i32.eqz (call $fits (local.get $place) (local.get $end)))
      (then (return (i64.const -1))))
    (local.set $at (i32.add (local.get $place) (i32.const 9)))
    (local.set $end (i32.sub (local.get $end) (i32.const 2)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $byte (i32.load8_u (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        ;; A quote that no backslash precedes ends the text: there are other members.
        (if (i32.eq (local.get $byte) (i32.const 34))
          (then (return (i64.const -1))))
        (if (i32.eq (local.get $byte) (i32.const 92))
          (then
            ;; An escape is one letter, or u and four digits.
            (local.set $at
              (i32.add
                (local.get $at)
                (select
                  (i32.const 5)
                  (i32.const 1)
                  (i32.eq (i32.load8_u (local.get $at)) (i32.const 117)))))
            (br $next)))
        (local.set $count (i32.add (local.get $count) (call $is_vowel (local.get $byte))))
        (br $next)))
    (call $answer (local.get $count))))
