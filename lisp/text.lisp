;;;; text.lisp - strings of Lisp as bytes for C, and bytes of C as strings of Lisp.

(in-package "MPROF")

(defun c-string (string)
  "STRING as a base string that ends in a NUL.  Characters are bytes to ECL's
own file functions, so they are here; only what does not fit becomes UTF-8."
  (if (every (lambda (char) (< (char-code char) 256)) string)
      (map '(simple-array base-char (*)) #'identity string)
      (coerce (mapcan #'utf-8-bytes (coerce string 'list))
              '(simple-array base-char (*)))))

(defun utf-8-bytes (char)
  "The UTF-8 bytes of CHAR, as a list of characters."
  (let ((code (char-code char)))
    (flet ((tail (position)
             (logior #x80 (ldb (byte 6 position) code))))
      (mapcar #'code-char
              (cond ((< code #x80) (list code))
                    ((< code #x800)
                     (list (logior #xC0 (ash code -6)) (tail 0)))
                    ((< code #x10000)
                     (list (logior #xE0 (ash code -12)) (tail 6) (tail 0)))
                    (t
                     (list (logior #xF0 (ash code -18))
                           (tail 12) (tail 6) (tail 0))))))))

(defun ascii-end (bytes start)
  "Return the index of the first byte of BYTES, a simple base string, from START on
that is not ASCII; its length if there is none."
  (declare (type simple-base-string bytes) (type fixnum start)
           (optimize (speed 3) (safety 0)))
  (do ((index start (1+ index)))
      ((or (>= index (length bytes))
           (>= (char-code (schar bytes index)) #x80))
       index)
    (declare (type fixnum index))))

(defun decode-character (bytes start)
  "The code of what begins at START of the UTF-8 in BYTES, no ASCII, and where it
ends.  A byte that does not belong in UTF-8 becomes a replacement character."
  (let* ((end (length bytes))
         (index (1+ start))
         (lead (char-code (char bytes start)))
         (more (cond ((< #xC1 lead #xE0) 1)
                     ((< #xDF lead #xF0) 2)
                     ((< #xEF lead #xF5) 3)))
         (code (and more (ldb (byte (- 6 more) 0) lead))))
    (loop repeat (or more 0) do
      (let ((next (and code (< index end) (char-code (char bytes index)))))
        (cond ((and next (= #x80 (logand #xC0 next)))
               (setf code (logior (ash code 6) (logand #x3F next)))
               (incf index))
              (t (setf code nil)))))
    (values (if (and code (< code char-code-limit)
                     (not (<= #xD800 code #xDFFF)))
                code
                #xFFFD)
            index)))

(defun decode-utf-8 (bytes start)
  "A string from the UTF-8 in BYTES, a simple base string, from START on.  Nearly
all of it is ASCII, which is not looked at character by character here."
  (check-type bytes simple-base-string)
  (let* ((end (length bytes))
         (index (ascii-end bytes start)))
    (if (= index end)
        (subseq bytes start)
        (let* ((output (make-string (- end start)))
               (length (- index start)))
          (replace output bytes :start2 start :end2 index)
          (loop while (< index end)
                do (multiple-value-bind (code next)
                       (decode-character bytes index)
                     (setf (char output length) (code-char code)
                           index (ascii-end bytes next))
                     (incf length)
                     (replace output bytes :start1 length
                                           :start2 next :end2 index)
                     (incf length (- index next))))
          (subseq output 0 length)))))
