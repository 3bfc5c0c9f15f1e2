"""What a program calls: `import rexmit` has all of it. The command line calls the same functions.

Nothing here prints or sees to signals. Long work reports to `progress`. What a user can mend
is raised as `rexmit.Error`, in the words of the caller (`rexmit.errors.argument`): a program
has given an argument, a shell an option.
"""
