;;;; walker.lsp - ever new chains: interpreted functions that call each other at
;;;; random, from a fixed seed.

(defvar *seed* 1988)
(defvar *steps* 0)

(defun next (n)
  (setf *seed* (logand #xffffff (+ (* *seed* 69069) 12345)))
  (mod (ash *seed* -6) n))

;; A function of ECL that has another C function inside, which is of the same name.
(defun leaf (n) (make-hash-table :size n))

(defvar *walkers* '(ant bee cat dog eel fox gnu hen))

(defun go-on (depth)
  (loop while (and (plusp depth) (< *steps* 4000) (< (next 30) depth))
        do (incf *steps*)
           (funcall (nth (next 8) *walkers*) (1- depth))))

(defmacro define-walkers ()
  `(progn
     ,@(loop for name in *walkers*
             for n from 1
             collect `(defun ,name (depth)
                        (when (zerop (next 3)) (leaf ,n))
                        (go-on depth)))))
(define-walkers)

(loop while (< *steps* 4000) do (go-on 30))
