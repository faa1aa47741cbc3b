// CUDA graphs: work that is defined once and launched many times. All of include/cuprum/graph.
#pragma once

#include <cuprum/graph/builder.hpp>
#include <cuprum/graph/condition.hpp>
#include <cuprum/graph/definition.hpp>
#include <cuprum/graph/executable.hpp>
#include <cuprum/graph/node.hpp>
#include <cuprum/graph/nodes.hpp>
#include <cuprum/graph/operand.hpp>
#include <cuprum/graph/options.hpp>
#include <cuprum/graph/place.hpp>
