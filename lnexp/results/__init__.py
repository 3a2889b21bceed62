"""collect → tables → claims → figures. Reads run folders only: never trains."""
