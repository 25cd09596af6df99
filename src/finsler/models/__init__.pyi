from finsler.models.compare import Comparison as Comparison
from finsler.models.compare import ModelRecord as ModelRecord
from finsler.models.compare import compare_models as compare_models
