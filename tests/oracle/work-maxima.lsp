;;;; Debian's Maxima, compiled by an ECL without the patch.
(in-package :cl-user)
(defun ask (input)
  (let ((*package* (find-package "MAXIMA")))
    (with-input-from-string (stream (concatenate 'string input ";"))
      (funcall (intern "MEVAL" "MAXIMA")
               (third (funcall (intern "MREAD" "MAXIMA") stream))))))
(oracle:start)
(load (ext:getenv "ORACLE_PROGRAM") :verbose nil)
(funcall (intern "INITIALIZE-RUNTIME-GLOBALS" "MAXIMA"))
(mapc #'ask '("factor(x^60-1)"
              "expand((x+y+z)^14)"
              "diff(sin(x^2)*exp(-x)/(1+log(x)),x,4)"
              "integrate(x^3/(x^4+x^2+1),x)"
              "determinant(genmatrix(lambda([i,j],1/(i+j+x)),6,6))"
              "errcatch(1/0)"
              "200!"))
(oracle:stop)
