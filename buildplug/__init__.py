"""The build door: compiles `@autodiff` functions while a wheel is built. Only this package imports setuptools."""
