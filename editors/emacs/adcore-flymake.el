;;; adcore-flymake.el --- adcore lint for Flymake, next to another language server  -*- lexical-binding: t; -*-

;; (load "/path/to/adcore-flymake.el")
;; (add-hook 'python-mode-hook #'adcore-flymake-setup)

(require 'flymake)

(defvar adcore-program "adcore" "The command to run.")
(defvar-local adcore--process nil)

(defconst adcore--line
  (rx bol (+? nonl) ":" (group (+ digit)) ":" (group (+ digit)) ": "
      (group (+ alpha)) "[" (group (+ (not "]"))) "] " (group (+ nonl)) eol))

(defun adcore--diagnostics (source output)
  "The diagnostics of buffer SOURCE in the text of buffer OUTPUT."
  (let (found)
    (with-current-buffer output
      (goto-char (point-min))
      (while (re-search-forward adcore--line nil t)
        (let* ((line (string-to-number (match-string 1)))
               (column (string-to-number (match-string 2)))
               (type (pcase (match-string 3) ("error" :error) ("warning" :warning) (_ :note)))
               (text (format "%s [%s]" (match-string 5) (match-string 4)))
               (region (flymake-diag-region source line column)))
          (push (flymake-make-diagnostic source (car region) (cdr region) type text) found))))
    found))

(defun adcore-flymake (report &rest _)
  "Check the current buffer and give the findings to REPORT."
  (when (process-live-p adcore--process) (kill-process adcore--process))
  (let ((source (current-buffer))
        (name (or buffer-file-name "untitled.py")))
    (setq adcore--process
          (make-process
           :name "adcore-lint" :noquery t :connection-type 'pipe
           :buffer (generate-new-buffer " *adcore-lint*")
           :command (list adcore-program "lint" "--format" "concise" "--stdin-filename" name "-")
           :sentinel
           (lambda (process _)
             (when (memq (process-status process) '(exit signal))
               (unwind-protect
                   (when (and (buffer-live-p source)
                              (eq process (buffer-local-value 'adcore--process source)))
                     (funcall report (adcore--diagnostics source (process-buffer process))))
                 (kill-buffer (process-buffer process)))))))
    (save-restriction
      (widen)
      (process-send-region adcore--process (point-min) (point-max))
      (process-send-eof adcore--process))))

(defun adcore-flymake-setup ()
  "Let Flymake ask adcore in this buffer."
  (add-hook 'flymake-diagnostic-functions #'adcore-flymake nil t)
  (flymake-mode 1))

(provide 'adcore-flymake)
;;; adcore-flymake.el ends here
