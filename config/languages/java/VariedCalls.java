
// While tests run, methods of lists of numbers also call themselves with other lists. Writes one line a call to the file $AGENTFORGE_CALLS
// (kernel/gates/test_quality/varied_calls.hpp).
final class AgentForgeCalls {
    interface Call {
        Object of(double[] given) throws Throwable;
    }

    private static boolean busy;
    private static int made;

    private AgentForgeCalls() {
    }

    static double[] doubles(double[] values) {
        return values.clone();
    }

    static double[] doubles(int[] values) {
        double[] result = new double[values.length];
        for (int at = 0; at < values.length; at++) {
            result[at] = values[at];
        }
        return result;
    }

    static double[] doubles(long[] values) {
        double[] result = new double[values.length];
        for (int at = 0; at < values.length; at++) {
            result[at] = values[at];
        }
        return result;
    }

    static double[] doubles(java.util.Collection<? extends Number> values) {
        double[] result = new double[values.size()];
        int at = 0;
        for (Number value : values) {
            result[at++] = value.doubleValue();
        }
        return result;
    }

    static int[] ints(double[] values) {
        int[] result = new int[values.length];
        for (int at = 0; at < values.length; at++) {
            result[at] = (int) values[at];
        }
        return result;
    }

    static long[] longs(double[] values) {
        long[] result = new long[values.length];
        for (int at = 0; at < values.length; at++) {
            result[at] = (long) values[at];
        }
        return result;
    }

    static java.util.List<Integer> listOfInteger(double[] values) {
        java.util.List<Integer> result = new java.util.ArrayList<>();
        for (double value : values) {
            result.add((int) value);
        }
        return result;
    }

    static java.util.List<Long> listOfLong(double[] values) {
        java.util.List<Long> result = new java.util.ArrayList<>();
        for (double value : values) {
            result.add((long) value);
        }
        return result;
    }

    static java.util.List<Double> listOfDouble(double[] values) {
        java.util.List<Double> result = new java.util.ArrayList<>();
        for (double value : values) {
            result.add(value);
        }
        return result;
    }

    private static String told(Object result) {
        if (result == null) {
            return "-";
        }
        if (result instanceof Number) {
            return String.valueOf(((Number) result).doubleValue());
        }
        if (result instanceof java.util.OptionalInt) {
            java.util.OptionalInt each = (java.util.OptionalInt) result;
            return each.isPresent() ? String.valueOf(each.getAsInt()) : "-";
        }
        if (result instanceof java.util.OptionalDouble) {
            java.util.OptionalDouble each = (java.util.OptionalDouble) result;
            return each.isPresent() ? String.valueOf(each.getAsDouble()) : "-";
        }
        if (result instanceof java.util.Optional) {
            java.util.Optional<?> each = (java.util.Optional<?>) result;
            return each.isPresent() ? told(each.get()) : "-";
        }
        return "?";
    }

    private static void one(java.io.Writer file, String function, String kind, double[] given, Call call) throws java.io.IOException {
        StringBuilder line = new StringBuilder(function + "\t" + kind + "\t");
        for (int at = 0; at < given.length; at++) {
            line.append(at == 0 ? "" : ",").append(given[at]);
        }
        String result;
        try {
            result = told(call.of(given.clone()));
        } catch (Throwable error) {
            result = "-";
        }
        file.write(line + "\t" + result + "\n");
        file.flush();
    }

    static void vary(String function, double[] given, Call call) {
        String path = System.getenv("AGENTFORGE_CALLS");
        synchronized (AgentForgeCalls.class) {
            if (path == null || busy || made >= 40 || given.length > 200) {
                return;
            }
            busy = true;
            made++;
        }
        try (java.io.Writer file = new java.io.FileWriter(path, true)) {
            one(file, function, "own", given, call);
            int length = given.length;
            if (length > 1) {
                one(file, function, "near", java.util.Arrays.copyOfRange(given, 1, length), call);
                one(file, function, "near", java.util.Arrays.copyOf(given, length - 1), call);
                double[] reversed = new double[length];
                double[] twice = java.util.Arrays.copyOf(given, 2 * length);
                for (int at = 0; at < length; at++) {
                    reversed[length - 1 - at] = given[at];
                    twice[length + at] = given[at];
                }
                one(file, function, "near", reversed, call);
                one(file, function, "near", twice, call);
                one(file, function, "near", new double[0], call);
                for (int at = 0; at < length && at < 6; at++) {
                    for (int by = -1; by <= 1; by += 2) {
                        double[] other = given.clone();
                        other[at] += by;
                        one(file, function, "near", other, call);
                    }
                }
            }
        } catch (java.io.IOException error) {
            // Then there is no record of the call.
        } finally {
            synchronized (AgentForgeCalls.class) {
                busy = false;
            }
        }
    }
}
