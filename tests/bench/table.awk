{print}
